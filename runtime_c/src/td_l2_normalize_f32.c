/* td_l2_normalize_f32.c - plain C. */
#include "td_l2_normalize.h"
#include "td_math.h"

static float td_line_squares(const td_lines *restrict l, const float *x)
{
    float sum = 0.0F;
    for (int32_t i = 0; i < l->reduced[0]; i++) {
        for (int32_t j = 0; j < l->reduced[1]; j++) {
            const float *at = x + i * l->reduced_step[0] + j * l->reduced_step[1];
            for (int32_t k = 0; k < l->reduced[2]; k++) {
                sum += *at * *at;
                at += l->reduced_step[2];
            }
        }
    }
    return sum;
}

void td_l2_normalize_f32(const td_l2_normalize_f32_params *restrict p, const float *in, float *out)
{
    const td_lines *const l = &p->lines;
    const int32_t lines = td_lines_count(l);
    for (int32_t n = 0; n < lines; n++) {
        const int32_t start = td_lines_start(l, n);
        const float length = td_sqrtf(td_line_squares(l, in + start));
        const float factor = 1.0F / (length > p->epsilon ? length : p->epsilon);
        for (int32_t i = 0; i < l->reduced[0]; i++) {
            for (int32_t j = 0; j < l->reduced[1]; j++) {
                int32_t at = start + i * l->reduced_step[0] + j * l->reduced_step[1];
                for (int32_t k = 0; k < l->reduced[2]; k++) {
                    out[at] = in[at] * factor;
                    at += l->reduced_step[2];
                }
            }
        }
    }
}
