/* td_resample_f32.c - plain C. */
#include "td_resample.h"

static int32_t td_inside(int32_t i, int32_t count)
{
    i = i < 0 ? i + count : i;
    return i < 0 ? 0 : i < count ? i : count - 1;
}

/* A row of out: the first tap sets it, the others add to it. */
static void td_row(const td_resample_params *restrict p, const int32_t *indices, const float *weights, const float *in,
                   float *out)
{
    for (int32_t t = 0; t < p->taps; t++) {
        const float *from = in + td_inside(indices[t], p->count) * p->inner;
        const float weight = weights[t];
        if (t == 0) {
            for (int32_t i = 0; i < p->inner; i++) {
                out[i] = weight * from[i];
            }
        } else {
            for (int32_t i = 0; i < p->inner; i++) {
                const float product = weight * from[i];
                out[i] = out[i] + product;
            }
        }
    }
}

void td_resample_f32(const td_resample_params *restrict p, const int32_t *indices, const float *weights,
                     const float *in, float *out)
{
    for (int32_t o = 0; o < p->outer; o++) {
        for (int32_t r = 0; r < p->rows; r++) {
            td_row(p, indices + r * p->taps, weights + r * p->taps, in, out);
            out += p->inner;
        }
        in += p->count * p->inner;
    }
}
