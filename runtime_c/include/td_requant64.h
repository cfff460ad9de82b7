/* td_requant64.h - from an accumulator of up to 47 bits to an output integer, for 16-bit activations.
 *
 * reduced  y = zero_point + (((acc + bias) * m + 2^(shift - 1)) >> shift), 0 <= m < 2^15, shift 1..46
 *          |acc + bias| < 2^47. Source: TFLite MultiplyByQuantizedMultiplier for int64.
 * once     y = zero_point + round((acc + bias) * ratio), the product rounded to a double first, halves away from zero:
 *          ratio = (m_hi : m_lo) * 2^(up - 64 - shift), m_hi >= 2^31 (or m is 0), shift 1..62;
 *          |acc + bias| < 2^47, and << up < 2^63.
 *          Source: TFLite FULLY_CONNECTED, reference_integer_ops::FullyConnected, which computes in double; made here
 *          of integers with the same result in every bit.
 *
 * Both are clamped. All shifts to the right are arithmetic.
 */
#ifndef TD_REQUANT64_H
#define TD_REQUANT64_H

#include "td_requant.h"

typedef struct {
    int64_t bias;
    int32_t m;
    int32_t shift;
} td_reduced;

typedef struct {
    int64_t bias;
    uint32_t m_lo;
    uint32_t m_hi;
    int32_t up;
    int32_t shift;
} td_once;

static inline int32_t td_clamp64(int64_t x, int32_t low, int32_t high)
{
    return x < low ? low : x > high ? high : (int32_t)x;
}

static inline int32_t td_requant_reduced(int64_t acc, const td_reduced *restrict r, int32_t zero_point, int32_t low,
                                         int32_t high)
{
    const int64_t product = (acc + r->bias) * r->m + (INT64_C(1) << (r->shift - 1));
    return td_clamp64((product >> r->shift) + zero_point, low, high);
}

/* The magnitude of round(x * ratio), x = |acc + bias|. */
static inline uint64_t td_round_once(uint64_t x, const td_once *restrict r)
{
    const uint64_t scaled = x << r->up;
    const uint64_t low = (scaled & 0xFFFFFFFFU) * r->m_lo;
    const uint64_t cross = (scaled & 0xFFFFFFFFU) * r->m_hi + (low >> 32);
    const uint64_t cross2 = (scaled >> 32) * r->m_lo + (cross & 0xFFFFFFFFU);
    uint64_t high = (scaled >> 32) * r->m_hi + (cross >> 32) + (cross2 >> 32); /* the product is high : rest */
    const uint64_t rest = (cross2 << 32) | (low & 0xFFFFFFFFU);
    if (rest > UINT64_MAX - (UINT64_C(1) << 58)) {
        /* A double has 53 bits: the product may be rounded up to a half that it misses by half a unit of the last. */
        uint64_t missing = UINT64_C(1) << 11;
        for (uint64_t size = high; size > 1U; size >>= 1) {
            missing <<= 1;
        }
        high += rest > UINT64_MAX - missing ? 1U : 0U;
    }
    return (high + (UINT64_C(1) << (r->shift - 1))) >> r->shift;
}

static inline int32_t td_requant_once(int64_t acc, const td_once *restrict r, int32_t zero_point, int32_t low,
                                      int32_t high)
{
    const int64_t x = acc + r->bias;
    const uint64_t size = td_round_once(x < 0 ? (uint64_t)0 - (uint64_t)x : (uint64_t)x, r);
    const int64_t limited = size < UINT64_C(0x7FFFFFFF) ? (int64_t)size : INT64_C(0x7FFFFFFF);
    return td_clamp64((x < 0 ? -limited : limited) + zero_point, low, high);
}

#endif
