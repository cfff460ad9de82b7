/* td_math_bits.h - what td_math*.c share: the bits of a float, powers of two, polynomials. */
#ifndef TD_MATH_BITS_H
#define TD_MATH_BITS_H

#include "td_arch.h"

#if defined(__FAST_MATH__)
#error "td_math rounds by adding and subtracting large numbers: compile the runtime without -ffast-math"
#endif

#define TD_LN2_HIGH 0.69314575F /* 15 bits: times a binary exponent it is exact */
#define TD_LN2_LOW  1.4286068e-06F

static inline uint32_t td_bits(float x)
{
    union {
        float f;
        uint32_t u;
    } both;
    both.f = x;
    return both.u;
}

static inline float td_from_bits(uint32_t b)
{
    union {
        uint32_t u;
        float f;
    } both;
    both.u = b;
    return both.f;
}

static inline float td_infinity(void)
{
    return td_from_bits(0x7F800000U);
}

static inline float td_nan(void)
{
    return td_from_bits(0x7FC00000U);
}

static inline float td_fabsf(float x)
{
    return td_from_bits(td_bits(x) & 0x7FFFFFFFU);
}

/* A magnitude (or NaN) with the sign of x. */
static inline float td_with_sign(float magnitude, float x)
{
    return td_from_bits((td_bits(magnitude) & 0x7FFFFFFFU) | (td_bits(x) & 0x80000000U));
}

/* y * 2^n for -252 <= n <= 254 in two products, of which only the second rounds. */
static inline float td_scale(float y, int32_t n)
{
    const int32_t half = n >> 1;
    return (y * td_from_bits((uint32_t)(half + 127) << 23)) * td_from_bits((uint32_t)(n - half + 127) << 23);
}

/* Horner's rule; c[0] is the constant. */
static inline float td_polynomial(float x, const float *restrict c, int32_t count)
{
    float result = c[count - 1];
    for (int32_t i = count - 2; i >= 0; i--) {
        result = result * x + c[i];
    }
    return result;
}

#define TD_POLYNOMIAL(x, c) td_polynomial(x, c, (int32_t)(sizeof(c) / sizeof((c)[0])))

/* e^r - 1 for |r| < 0.35. */
static inline float td_exp_less_one(float r)
{
    static const float series[] = {0.5F, 1.6666512e-01F, 4.1666187e-02F, 8.369599e-03F, 1.3951717e-03F};
    return r + (r * r) * TD_POLYNOMIAL(r, series);
}

#endif
