/* td_requant.h - from an int32 accumulator to an output integer.
 *
 * All shifts to the right are arithmetic (every compiler for these cores does that; td_shift_check refuses another).
 * Sums that may leave int32 are made in uint32, so they wrap and are never undefined.
 *
 * affine  y = ((acc * m + c) >> 32) >> shift. `acc` is the raw sum of weight times stored input; bias, input and output
 *         zero point and all rounding are in c (64 bits as c_hi : c_lo). `shift` (0..30) is common to a layer and
 *         stands in its params. Used where the converter has proved it equal to TFLite's rounding on every
 *         accumulator that can occur. 0 <= m < 2^31. The sum acc * m + c never leaves int64.
 * exact   TFLite's double rounding: SRDHM, then rounding division by a power of two (half away from zero).
 *         `acc` as above; `bias` includes minus the input zero point times the sum of weights; the output zero point
 *         stands in the params. `shift` as in TFLite: > 0 to the left before, < 0 to the right after.
 * wide    y = (acc * m + c) >> shift with a shift (0..54) a channel and a 64-bit y: fully connected layers whose ratios
 *         are large or far apart.
 *
 * Source: gemmlowp fixedpoint.h, TFLite MultiplyByQuantizedMultiplier (kernels/internal/common.h).
 */
#ifndef TD_REQUANT_H
#define TD_REQUANT_H

#include "td_arch.h"

typedef char td_shift_check[(-3 >> 1) == -2 ? 1 : -1];

/* In the order in which one LDM loads them. */
typedef struct {
    uint32_t c_lo;
    int32_t c_hi;
    int32_t m;
} td_affine;

typedef struct {
    int32_t bias;
    int32_t m;
    int32_t shift;
} td_exact;

typedef struct {
    uint32_t c_lo;
    int32_t c_hi;
    int32_t m;
    int32_t shift;
} td_wide;

static inline int32_t td_clamp(int32_t x, int32_t low, int32_t high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

/* Clamp `size` outputs in place, after a kernel that only saturates. */
static inline void td_limit(int8_t *y, int32_t size, int32_t low, int32_t high)
{
    for (const int8_t *const end = y + size; y != end; y++) {
        *y = (int8_t)td_clamp(*y, low, high);
    }
}

/* a + b modulo 2^32. */
static inline int32_t td_add_wrap(int32_t a, int32_t b)
{
    return (int32_t)((uint32_t)a + (uint32_t)b);
}

/* x * 2^n modulo 2^32, n = 0..31. */
static inline int32_t td_shl_wrap(int32_t x, int32_t n)
{
    return (int32_t)((uint32_t)x << n);
}

#if TD_HAS_LONG_MUL

/* High word of a * b + c, c = c_hi : c_lo. */
static inline int32_t td_mul_add_high(int32_t a, int32_t b, uint32_t c_lo, int32_t c_hi)
{
    const int64_t c = (int64_t)(((uint64_t)(uint32_t)c_hi << 32) | c_lo);
    return (int32_t)(((int64_t)a * b + c) >> 32);
}

/* round(x * m / 2^31), halves up; |x| <= 2^31, 0 <= m < 2^31. SRDHM of gemmlowp without its one saturating case. */
static inline int32_t td_srdhm(int32_t x, int32_t m)
{
    return (int32_t)(((int64_t)x * m + (INT64_C(1) << 30)) >> 31);
}

#else

/* The same from four 16-bit products: no call of the compiler's 64-bit multiply. b >= 0. */
static inline int32_t td_mul_add_high(int32_t a, int32_t b, uint32_t c_lo, int32_t c_hi)
{
    const uint32_t a_lo = (uint32_t)a & 0xFFFFU;
    const uint32_t b_lo = (uint32_t)b & 0xFFFFU;
    const int32_t a_hi = a >> 16;
    const int32_t b_hi = b >> 16;
    const uint32_t low = a_lo * b_lo;
    const uint32_t cross = a_lo * (uint32_t)b_hi; /* below 2^31 */
    const int32_t cross2 = a_hi * (int32_t)b_lo;  /* above -2^31 */
    const uint32_t mid = cross + (low >> 16);     /* below 2^32 */
    const uint32_t mid2 = (uint32_t)cross2 + (mid & 0xFFFFU);
    const int32_t high = a_hi * b_hi + (int32_t)(mid >> 16) + ((int32_t)mid2 >> 16);
    const uint32_t product_lo = (mid2 << 16) | (low & 0xFFFFU);
    const uint32_t sum = product_lo + c_lo;
    return td_add_wrap(td_add_wrap(high, c_hi), sum < c_lo ? 1 : 0);
}

static inline int32_t td_srdhm(int32_t x, int32_t m)
{
    /* x * m + 2^30 as high : low; the result is its bits 31..62. One more bit than the high word: ask for 2 * m. */
    const uint32_t low = (uint32_t)x * (uint32_t)m + 0x40000000U;
    const int32_t high = td_mul_add_high(x, m, 0x40000000U, 0);
    return (int32_t)(((uint32_t)high << 1) | (low >> 31));
}

#endif

/* round(x / 2^n), halves away from zero, n = 0..31. gemmlowp's RoundingDivideByPOT. */
static inline int32_t td_rounding_shift(int32_t x, int32_t n)
{
    const int32_t mask = (int32_t)((1U << n) - 1U);
    const int32_t rest = x & mask;
    const int32_t half = (mask >> 1) + (x < 0 ? 1 : 0);
    return (x >> n) + (rest > half ? 1 : 0);
}

/* TFLite's MultiplyByQuantizedMultiplier with double rounding. x << shift must stay in int32 to mean anything. */
static inline int32_t td_multiply_double(int32_t x, int32_t m, int32_t shift)
{
    if (shift > 0) {
        return td_srdhm(td_shl_wrap(x, shift), m);
    }
    return td_rounding_shift(td_srdhm(x, m), -shift);
}

/* One channel's requantisation before the clamp; see the top of this file. */
static inline int32_t td_requant_affine(int32_t acc, const td_affine *restrict r, int32_t shift)
{
    return td_mul_add_high(acc, r->m, r->c_lo, r->c_hi) >> shift;
}

static inline int32_t td_requant_exact(int32_t acc, const td_exact *restrict r, int32_t zero_point)
{
    return td_add_wrap(td_multiply_double(td_add_wrap(acc, r->bias), r->m, r->shift), zero_point);
}

/* Clamped, as y may not fit into 32 bits. */
static inline int32_t td_requant_wide(int32_t acc, const td_wide *restrict r, int32_t low, int32_t high)
{
    const int64_t c = (int64_t)(((uint64_t)(uint32_t)r->c_hi << 32) | r->c_lo);
    int64_t y = ((int64_t)acc * r->m + c) >> r->shift;
    y = y < low ? low : y;
    return y > high ? high : (int32_t)y;
}

#endif
