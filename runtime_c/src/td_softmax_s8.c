/* td_softmax_s8.c - plain C. */
#include "td_softmax.h"

#include "td_requant.h"

#define TD_SUM_INTEGER_BITS 12
#define TD_48_OVER_17       1515870810 /* Q2.29 */
#define TD_MINUS_32_OVER_17 (-1010580540)

/* 1 / (1 + x) for x in [0, 1), Q0.31. */
static int32_t td_one_over_one_plus(uint32_t x)
{
    const int32_t half = (int32_t)((x >> 1) + 0x40000000U); /* (1 + x) / 2 */
    int32_t y = TD_48_OVER_17 + td_srdhm(TD_MINUS_32_OVER_17, half);
    for (int32_t i = 0; i < 3; i++) {
        const int32_t error = (1 << 29) - td_srdhm(half, y);
        y = td_add_wrap(y, td_shl_wrap(td_srdhm(error, y), 2));
    }
    return y >= 0x40000000 ? INT32_MAX : td_shl_wrap(y, 1);
}

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
