/* td_softmax_f32.c - plain C. */
#include "td_math.h"
#include "td_softmax_f32.h"

/* The largest of `depth` elements that lie `step` apart. */
static float td_line_max(const float *x, int32_t depth, int32_t step)
{
    float max = x[0];
    for (int32_t k = 1; k < depth; k++) {
        x += step;
        max = *x > max ? *x : max;
    }
    return max;
}

void td_softmax_f32(const td_softmax_f32_params *restrict p, const float *in, float *out)
{
    const int32_t block = p->depth * p->inner;
    for (int32_t o = 0; o < p->outer; o++) {
        for (int32_t i = 0; i < p->inner; i++) {
            const float max = td_line_max(in + i, p->depth, p->inner);
            float sum = 0.0F;
            for (int32_t at = i; at < block; at += p->inner) {
                const float e = td_expf((in[at] - max) * p->beta);
                sum += e;
                out[at] = e;
            }
            const float factor = 1.0F / sum;
            for (int32_t at = i; at < block; at += p->inner) {
                out[at] *= factor;
            }
        }
        in += block;
        out += block;
    }
}

void td_log_softmax_f32(const td_softmax_f32_params *restrict p, const float *in, float *out)
{
    const int32_t block = p->depth * p->inner;
    for (int32_t o = 0; o < p->outer; o++) {
        for (int32_t i = 0; i < p->inner; i++) {
            const float max = td_line_max(in + i, p->depth, p->inner);
            float sum = 0.0F;
            for (int32_t at = i; at < block; at += p->inner) {
                sum += td_expf(in[at] - max);
            }
            const float log = td_logf(sum);
            for (int32_t at = i; at < block; at += p->inner) {
                out[at] = (in[at] - max) - log;
            }
        }
        in += block;
        out += block;
    }
}
