/* td_fully_connected_w8a8.c - plain C, four outputs at a time. */
#include "td_fully_connected.h"

TD_INLINE int8_t td_finish(const td_fully_connected_params *restrict p, const void *restrict requant, int32_t output,
                           int32_t sum, int wide)
{
    if (wide) {
        return (int8_t)td_requant_wide(sum, (const td_wide *)requant + output, p->act_min, p->act_max);
    }
    return (int8_t)td_clamp(td_requant_affine(sum, (const td_affine *)requant + output, p->shift), p->act_min,
                            p->act_max);
}

TD_INLINE void td_matrix_vector(const td_fully_connected_params *restrict p, const int8_t *in, const int8_t *restrict w,
                                const void *restrict requant, int8_t *out, int wide)
{
    for (int32_t o = 0; o < p->outputs; o += 4) {
        int32_t sum[4] = {0, 0, 0, 0};
        const int8_t *x = in;
        for (const int8_t *end = in + p->inputs; x != end; w += 4) {
            const int32_t value = *x++;
            sum[0] += value * w[0];
            sum[1] += value * w[1];
            sum[2] += value * w[2];
            sum[3] += value * w[3];
        }
        for (int32_t i = 0; i < 4 && o + i < p->outputs; i++) {
            out[o + i] = td_finish(p, requant, o + i, sum[i], wide);
        }
    }
}

void td_fully_connected_w8a8(const td_fully_connected_params *restrict p, const int8_t *in,
                             const int8_t *restrict weights, const td_affine *restrict requant, int8_t *out)
{
    td_matrix_vector(p, in, weights, requant, out, 0);
}

void td_fully_connected_w8a8_wide(const td_fully_connected_params *restrict p, const int8_t *in,
                                  const int8_t *restrict weights, const td_wide *restrict requant, int8_t *out)
{
    td_matrix_vector(p, in, weights, requant, out, 1);
}
