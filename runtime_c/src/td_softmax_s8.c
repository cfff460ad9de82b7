/* td_softmax_s8.c - plain C. */
#include "td_softmax.h"

#include "td_fixed.h"

#define TD_SUM_INTEGER_BITS 12

static int32_t td_exp_of(const td_softmax_params *restrict p, const int32_t *restrict table, int32_t difference)
{
    return difference < p->table_length ? table[difference] : 0;
}

void td_softmax_s8(const td_softmax_params *restrict p, const int8_t *in, const int32_t *restrict table, int8_t *out)
{
    int32_t max = -128;
    for (int32_t i = 0; i < p->depth; i++) {
        max = in[i] > max ? in[i] : max;
    }
    uint32_t sum = 0;
    for (int32_t i = 0; i < p->depth; i++) {
        sum += (uint32_t)td_rounding_shift(td_exp_of(p, table, max - in[i]), TD_SUM_INTEGER_BITS);
    }
    int32_t headroom = 0;
    while ((sum & 0x80000000U) == 0U) { /* ends: the largest element adds 2^19 */
        sum <<= 1;
        headroom++;
    }
    const int32_t scale = td_one_over_one_plus(sum & 0x7FFFFFFFU);
    const int32_t shift = TD_SUM_INTEGER_BITS - headroom + 23;
    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t product = td_srdhm(scale, td_exp_of(p, table, max - in[i]));
        const int32_t y = shift > 31 ? 0 : td_rounding_shift(product, shift);
        out[i] = (int8_t)td_clamp(y - 128, -128, 127);
    }
}
