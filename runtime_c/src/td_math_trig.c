/* td_math_trig.c - sine, cosine, tangent and their inverses. Polynomials were fitted here. */
#include "td_math.h"
#include "td_math_bits.h"

#define TD_QUARTER     0.7853982F /* pi / 4 */
#define TD_QUARTER_LOW (-2.1855695e-08F)
#define TD_HALF_HIGH   1.5707964F /* pi / 2 */
#define TD_HALF_LOW    (-4.371139e-08F)
#define TD_PI_HIGH     3.1415927F
#define TD_PI_LOW      (-8.742278e-08F)

/* 32 bits of 2/pi from bit `at` on, where bit 32 is the first of the fraction. */
static uint32_t td_two_over_pi(uint32_t at)
{
    static const uint32_t words[] = {0U,          0xA2F9836EU, 0x4E441529U, 0xFC2757D1U,
                                     0xF534DDC0U, 0xDB629599U, 0x3C439041U, 0xFE5163ABU};
    const uint64_t pair = (uint64_t)words[at >> 5] << 32 | words[(at >> 5) + 1U];
    return (uint32_t)((pair << (at & 31U)) >> 32);
}

/* a = r + n * pi / 2 modulo 2 pi with |r| <= pi / 4, for finite a >= 0. The bits of 2/pi whose products with a are
 * multiples of 4 are left out; 96 of those that follow give 62 bits of the fraction. */
static float td_quadrant(float a, uint32_t *n)
{
    *n = 0;
    if (!(a > TD_QUARTER)) {
        return a;
    }
    const uint32_t b = td_bits(a);
    const uint64_t m = (b & 0x7FFFFFU) | 0x800000U;
    const uint32_t at = (b >> 23) - 120U;
    const uint64_t product =
        (m * td_two_over_pi(at) << 32) + m * td_two_over_pi(at + 32U) + (m * td_two_over_pi(at + 64U) >> 32);
    const uint64_t quadrant = (product + ((uint64_t)1 << 61)) >> 62;
    *n = (uint32_t)quadrant;
    return (float)(int64_t)(product - (quadrant << 62)) * 3.4061217e-19F; /* pi / 2 / 2^62 */
}

static float td_sin_near(float r)
{
    static const float series[] = {-1.6666667e-01F, 8.333329e-03F, -1.9839327e-04F, 2.7182373e-06F};
    const float z = r * r;
    return r + r * (z * TD_POLYNOMIAL(z, series));
}

static float td_cos_near(float r)
{
    static const float series[] = {4.1666646e-02F, -1.3887362e-03F, 2.4437728e-05F};
    const float z = r * r;
    const float h = 0.5F * z;
    const float w = 1.0F - h;
    return w + (((1.0F - w) - h) + (z * z) * TD_POLYNOMIAL(z, series));
}

float td_sinf(float x)
{
    const float a = td_fabsf(x);
    if (!(a < td_infinity())) {
        return td_nan();
    }
    uint32_t n;
    const float r = td_quadrant(a, &n);
    const float y = (n & 1U) != 0U ? td_cos_near(r) : td_sin_near(r);
    return td_from_bits(td_bits(y) ^ (n >> 1 << 31) ^ (td_bits(x) & 0x80000000U));
}

float td_cosf(float x)
{
    const float a = td_fabsf(x);
    if (!(a < td_infinity())) {
        return td_nan();
    }
    uint32_t n;
    const float r = td_quadrant(a, &n);
    const float y = (n & 1U) != 0U ? td_sin_near(r) : td_cos_near(r);
    return ((n + 1U) & 2U) != 0U ? -y : y;
}

float td_tanf(float x)
{
    static const float series[] = {3.3333352e-01F, 1.33326e-01F,    5.4066755e-02F, 2.1248586e-02F,
                                   1.0919236e-02F, -1.2279032e-05F, 4.424833e-03F};
    const float a = td_fabsf(x);
    if (!(a < td_infinity())) {
        return td_nan();
    }
    uint32_t n;
    const float r = td_quadrant(a, &n);
    const float z = r * r;
    float y = r + r * (z * TD_POLYNOMIAL(z, series));
    y = (n & 1U) != 0U ? -1.0F / y : y;
    return td_from_bits(td_bits(y) ^ (td_bits(x) & 0x80000000U));
}

/* asin(a) - a, for z = a * a up to 1/4 */
static float td_asin_near(float a, float z)
{
    static const float series[] = {1.6666754e-01F, 7.4952416e-02F, 4.5477096e-02F, 2.4147611e-02F, 4.2218547e-02F};
    return a * (z * TD_POLYNOMIAL(z, series));
}

float td_asinf(float x)
{
    const float a = td_fabsf(x);
    if (!(a <= 1.0F)) {
        return td_nan();
    }
    if (a < 0.5F) {
        return td_with_sign(a + td_asin_near(a, a * a), x);
    }
    const float z = 0.5F * (1.0F - a);
    const float s = td_sqrtf(z);
    return td_with_sign(TD_HALF_HIGH - (2.0F * (s + td_asin_near(s, z)) - TD_HALF_LOW), x);
}

float td_acosf(float x)
{
    const float a = td_fabsf(x);
    if (!(a <= 1.0F)) {
        return td_nan();
    }
    if (a < 0.5F) {
        return TD_HALF_HIGH - (x - (TD_HALF_LOW - td_asin_near(x, x * x)));
    }
    const float z = 0.5F * (1.0F - a);
    const float s = td_sqrtf(z);
    const float twice = 2.0F * (s + td_asin_near(s, z));
    return x < 0.0F ? TD_PI_HIGH - (twice - TD_PI_LOW) : twice;
}

static float td_atan_magnitude(float a)
{
    static const float series[] = {-3.3333316e-01F, 1.9998479e-01F, -1.4243628e-01F, 1.0594273e-01F, -6.0788497e-02F};
    float t = a;
    float high = 0.0F;
    float low = 0.0F;
    if (a > 2.4142137F) {
        t = -1.0F / a;
        high = TD_HALF_HIGH;
        low = TD_HALF_LOW;
    } else if (a > 0.41421357F) {
        t = (a - 1.0F) / (a + 1.0F);
        high = TD_QUARTER;
        low = TD_QUARTER_LOW;
    }
    const float z = t * t;
    return high + (t + (t * (z * TD_POLYNOMIAL(z, series)) + low));
}

float td_atanf(float x)
{
    return td_with_sign(td_atan_magnitude(td_fabsf(x)), x);
}

float td_atan2f(float y, float x)
{
    if (x != x || y != y) {
        return td_nan();
    }
    const uint32_t a = td_bits(y) & 0x7FFFFFFFU;
    const uint32_t b = td_bits(x) & 0x7FFFFFFFU;
    float ratio = a == 0U ? 0.0F : 1.0F; /* also 0 / 0 and infinity / infinity */
    if (a != b) {
        ratio = b == 0U ? td_infinity() : td_from_bits(a) / td_from_bits(b);
    }
    const float p = td_atan_magnitude(ratio);
    return td_with_sign(td_bits(x) >> 31 != 0U ? TD_PI_HIGH - (p - TD_PI_LOW) : p, y);
}
