/* td_layer_norm_f32.c - plain C. */
#include "td_layer_norm.h"

#include "td_math.h"

/* Sum of a line; of the squares of its differences from `mean` if `squares`. */
TD_INLINE float td_line_sum(const td_lines *restrict l, const float *x, float mean, int squares)
{
    float sum = 0.0F;
    for (int32_t i = 0; i < l->reduced[0]; i++) {
        for (int32_t j = 0; j < l->reduced[1]; j++) {
            const float *at = x + i * l->reduced_step[0] + j * l->reduced_step[1];
            for (int32_t k = 0; k < l->reduced[2]; k++) {
                const float d = *at - mean;
                sum += squares ? d * d : *at;
                at += l->reduced_step[2];
            }
        }
    }
    return sum;
}

static void td_line_scale(const td_lines *restrict l, const float *in, float mean, float factor, const float *gamma,
                          const float *beta, float *out)
{
    int32_t n = 0;
    for (int32_t i = 0; i < l->reduced[0]; i++) {
        for (int32_t j = 0; j < l->reduced[1]; j++) {
            int32_t at = i * l->reduced_step[0] + j * l->reduced_step[1];
            for (int32_t k = 0; k < l->reduced[2]; k++) {
                float y = (in[at] - mean) * factor;
                y = gamma != NULL ? y * gamma[n] : y;
                out[at] = beta != NULL ? y + beta[n] : y;
                at += l->reduced_step[2];
                n++;
            }
        }
    }
}

TD_INLINE void td_normalise(const td_layer_norm_params *restrict p, const float *in, const float *gamma,
                            const float *beta, float *out, int centre)
{
    const float size = (float)td_lines_depth(&p->lines);
    const int32_t lines = td_lines_count(&p->lines);
    for (int32_t i = 0; i < lines; i++) {
        const int32_t start = td_lines_start(&p->lines, i);
        const float mean = centre ? td_line_sum(&p->lines, in + start, 0.0F, 0) / size : 0.0F;
        const float variance = td_line_sum(&p->lines, in + start, mean, 1) / size;
        const float factor = 1.0F / td_sqrtf(variance + p->epsilon);
        td_line_scale(&p->lines, in + start, mean, factor, gamma, beta, out + start);
    }
}

void td_layer_norm_f32(const td_layer_norm_params *restrict p, const float *in, const float *gamma, const float *beta,
                       float *out)
{
    td_normalise(p, in, gamma, beta, out, 1);
}

void td_rms_norm_f32(const td_layer_norm_params *restrict p, const float *in, const float *gamma, const float *beta,
                     float *out)
{
    td_normalise(p, in, gamma, beta, out, 0);
}
