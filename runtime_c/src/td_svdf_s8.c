/* td_svdf_s8.c - plain C. */
#include "td_svdf.h"

/* One filter: move its state, add the new element, return the sum over time. */
static int32_t td_svdf_filter(const td_svdf_s8_params *restrict p, const int8_t *x, const int8_t *restrict features,
                              const int16_t *restrict times, int32_t centre, const int16_t *in, int16_t *out)
{
    int32_t product = 0;
    for (int32_t i = 0; i < p->inputs; i++) {
        product += x[i] * features[i];
    }
    const int32_t rescaled = td_multiply_double(td_add_wrap(product, centre), p->state_multiplier, p->state_shift);
    const int32_t fresh = td_clamp(rescaled, INT16_MIN, INT16_MAX);
    int32_t sum = 0;
    for (int32_t m = 0; m < p->memory; m++) {
        const int32_t s = m + 1 < p->memory ? in[m + 1] : fresh;
        out[m] = (int16_t)s;
        sum = td_add_wrap(sum, s * times[m]);
    }
    return sum;
}

void td_svdf_s8(const td_svdf_s8_params *restrict p, const int8_t *x, const int8_t *restrict features,
                const int16_t *restrict times, const int32_t *restrict bias, const int32_t *restrict centre,
                const int16_t *in, int8_t *y, int16_t *out)
{
    for (int32_t b = 0; b < p->batch; b++) {
        for (int32_t u = 0; u < p->units; u++) {
            int32_t sum = bias[u];
            for (int32_t r = 0; r < p->rank; r++) {
                const int32_t f = u * p->rank + r;
                const int32_t of_filter =
                    td_svdf_filter(p, x, features + f * p->inputs, times + f * p->memory, centre[f], in, out);
                sum = td_add_wrap(sum, of_filter);
                in += p->memory;
                out += p->memory;
            }
            const int32_t scaled = td_multiply_double(sum, p->multiplier, p->shift);
            *y++ = (int8_t)td_clamp(td_add_wrap(scaled, p->zero_point), -128, 127);
        }
        x += p->inputs;
    }
}
