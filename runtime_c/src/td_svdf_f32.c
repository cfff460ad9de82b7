/* td_svdf_f32.c - plain C. */
#include "td_svdf.h"

/* One filter: move its state, add the new element, return the sum over time. */
static float td_svdf_filter(const td_svdf_f32_params *restrict p, const float *x, const float *restrict features,
                            const float *restrict times, const float *in, float *out)
{
    float fresh = 0.0F;
    for (int32_t i = 0; i < p->inputs; i++) {
        fresh += x[i] * features[i];
    }
    float sum = 0.0F;
    for (int32_t m = 0; m < p->memory; m++) {
        const float s = m + 1 < p->memory ? in[m + 1] : fresh;
        out[m] = s;
        sum += s * times[m];
    }
    return sum;
}

void td_svdf_f32(const td_svdf_f32_params *restrict p, const float *x, const float *restrict features,
                 const float *restrict times, const float *restrict bias, const float *in, float *y, float *out)
{
    for (int32_t b = 0; b < p->batch; b++) {
        for (int32_t u = 0; u < p->units; u++) {
            float sum = bias != NULL ? bias[u] : 0.0F;
            for (int32_t r = 0; r < p->rank; r++) {
                const int32_t f = u * p->rank + r;
                sum += td_svdf_filter(p, x, features + f * p->inputs, times + f * p->memory, in, out);
                in += p->memory;
                out += p->memory;
            }
            sum = sum < p->low ? p->low : sum;
            *y++ = sum > p->high ? p->high : sum;
        }
        x += p->inputs;
    }
}
