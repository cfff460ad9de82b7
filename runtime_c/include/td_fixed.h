/* td_fixed.h - fixed-point helpers on int32, as gemmlowp computes them. Source: gemmlowp/fixedpoint.h. */
#ifndef TD_FIXED_H
#define TD_FIXED_H

#include "td_requant.h"

/* x * 2^n limited to int32, n = 0..31. */
static inline int32_t td_shl_saturate(int32_t x, int32_t n)
{
    const int32_t most = INT32_MAX >> n;
    if (x > most) {
        return INT32_MAX;
    }
    return x < -most - 1 ? INT32_MIN : td_shl_wrap(x, n);
}

/* 1 / (1 + x) for x in [0, 1), Q0.31: three Newton steps from 48/17 - 32/17 * (1 + x) / 2 in Q2.29. */
static inline int32_t td_one_over_one_plus(uint32_t x)
{
    const int32_t half = (int32_t)((x >> 1) + 0x40000000U); /* (1 + x) / 2 */
    int32_t y = 1515870810 + td_srdhm(-1010580540, half);
    for (int32_t i = 0; i < 3; i++) {
        const int32_t error = (1 << 29) - td_srdhm(half, y);
        y = td_add_wrap(y, td_shl_wrap(td_srdhm(error, y), 2));
    }
    return y >= 0x40000000 ? INT32_MAX : td_shl_wrap(y, 1);
}

/* Zeros above the highest bit of x > 0. */
static inline int32_t td_leading_zeros(int32_t x)
{
    int32_t count = 1;
    while (x < 0x40000000) {
        x = td_shl_wrap(x, 1);
        count++;
    }
    return count;
}

#endif
