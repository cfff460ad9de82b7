/* td_math_pow.c - powers. The logarithm is computed in 64-bit fixed point: its error is multiplied by the exponent. */
#include "td_math.h"
#include "td_math_bits.h"

/* |x| = m * 2^e with 2^23 <= m < 2^24, for finite x other than 0. */
static uint32_t td_normal(float x, int32_t *e)
{
    const float a = td_fabsf(x);
    const int small = a < 1.17549435e-38F;
    const uint32_t b = td_bits(small ? a * 8388608.0F : a);
    *e = (int32_t)(b >> 23) - 150 - (small ? 23 : 0);
    return (b & 0x7FFFFFU) | 0x800000U;
}

/* The logarithm to base 2 of |x|, times 2^55. */
static int64_t td_log2_fixed(float x)
{
    /* For the 16 intervals of a mantissa: a reciprocal in 256ths, and minus its logarithm to base 2. */
    static const uint16_t reciprocal[16] = {256, 234, 221, 210, 200, 191, 182, 174,
                                            167, 161, 155, 149, 144, 139, 134, 128};
    static const int64_t logarithm[16] = {
        0,
        INT64_C(4670603204625993),
        INT64_C(7641615635927878),
        INT64_C(10295390241266393),
        INT64_C(12831433048166868),
        INT64_C(15224730980765728),
        INT64_C(17733566999927299),
        INT64_C(20070075716159827),
        INT64_C(22204392950111157),
        INT64_C(24106259987223193),
        INT64_C(26080366869356319),
        INT64_C(28132418882286098),
        INT64_C(29906603633551736),
        INT64_C(31743493252590887),
        INT64_C(33647682990813235),
        INT64_C(36028797018963968),
    };
    /* log2(1 + z) / z - 1, times 2^34 */
    static const int64_t series[7] = {INT64_C(7605442891),  INT64_C(-12392656058), INT64_C(8261770733),
                                      INT64_C(-6196286431), INT64_C(4957009571),   INT64_C(-4152149614),
                                      INT64_C(3562371098)};
    int32_t e;
    const uint32_t m = td_normal(x, &e);
    const uint32_t index = m >> 19 & 15U;
    const int32_t z = (int32_t)(m * reciprocal[index] - 0x80000000U); /* times 2^31, at most 1/16 */
    int64_t h = series[6];
    for (int32_t i = 5; i >= 0; i--) {
        h = ((h * z) >> 31) + series[i];
    }
    return (e + 23) * ((int64_t)1 << 55) + logarithm[index] + z * ((int64_t)1 << 24) + ((z * h) >> 10);
}

/* 2^(y * logarithm / 2^55) for finite y other than 0. */
static float td_exp2_of_product(int64_t logarithm, float y)
{
    if (logarithm == 0) {
        return 1.0F;
    }
    const int negative = (logarithm < 0) != (y < 0.0F);
    uint64_t rest = logarithm < 0 ? (uint64_t)-logarithm : (uint64_t)logarithm;
    int32_t right = 0;
    for (int32_t step = 32; step > 0; step >>= 1) {
        if (rest >> (64 - step) == 0U) {
            rest <<= step;
            right += step;
        }
    }
    int32_t e;
    const uint32_t m = td_normal(y, &e);
    const uint64_t product = (rest >> 24) * m;
    right -= e + 9;
    const uint64_t magnitude = right > 63 ? 0U : right < 0 ? UINT64_MAX : product >> right; /* times 2^40 */
    if (magnitude >= (uint64_t)1 << 48) {
        return negative ? 0.0F : td_infinity();
    }
    const int64_t v = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    const int32_t n = (int32_t)((v + ((int64_t)1 << 39)) >> 40);
    if (n < -151) {
        return 0.0F;
    }
    const float r = (float)(v - n * ((int64_t)1 << 40)) * 6.304137e-13F; /* ln 2 / 2^40 */
    return td_scale(1.0F + td_exp_less_one(r), n > 129 ? 129 : n);
}

float td_powf(float x, float y)
{
    if (td_bits(x) == 0x3F800000U || (td_bits(y) & 0x7FFFFFFFU) == 0U) {
        return 1.0F;
    }
    if (x != x || y != y) {
        return td_nan();
    }
    const float a = td_fabsf(x);
    const float b = td_fabsf(y);
    const int whole = b >= 8388608.0F || (float)(int32_t)b == b;
    const int odd = whole && b < 16777216.0F && ((int32_t)b & 1) != 0;
    if (x < 0.0F && a < td_infinity() && !whole) {
        return td_nan();
    }
    float result;
    if (a > 0.0F && a < td_infinity() && b < td_infinity()) {
        result = td_exp2_of_product(td_log2_fixed(x), y);
    } else if (td_bits(a) == 0x3F800000U) {
        result = 1.0F;
    } else {
        result = (a > 1.0F) == (y > 0.0F) ? td_infinity() : 0.0F;
    }
    return odd && td_bits(x) >> 31 != 0U ? -result : result;
}
