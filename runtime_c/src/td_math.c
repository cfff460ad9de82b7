/* td_math.c - exponential, logarithm, hyperbolic functions, square root and rounding. Polynomials were fitted here. */
#include "td_math.h"
#include "td_math_bits.h"

#define TD_LN2 0.6931472F

/* x = r + n * ln 2 with |r| < 0.35, for |x| < 110. Adding and subtracting 1.5 * 2^23 rounds to a whole number. */
static float td_reduce(float x, int32_t *n)
{
    const float whole = (x * 1.442695F + 12582912.0F) - 12582912.0F;
    *n = (int32_t)whole;
    return (x - whole * TD_LN2_HIGH) - whole * TD_LN2_LOW;
}

/* e^x * 2^extra */
static float td_exp_scaled(float x, int32_t extra)
{
    if (x > 90.0F) {
        return td_infinity();
    }
    if (x < -105.0F) {
        return 0.0F;
    }
    if (x != x) {
        return x;
    }
    int32_t n;
    const float r = td_reduce(x, &n);
    return td_scale(1.0F + td_exp_less_one(r), n + extra);
}

float td_expf(float x)
{
    return td_exp_scaled(x, 0);
}

float td_expm1f(float x)
{
    if (x != x || td_fabsf(x) < 2.98023224e-08F) {
        return x;
    }
    if (x > 90.0F) {
        return td_infinity();
    }
    if (x < -18.0F) {
        return -1.0F;
    }
    int32_t n;
    const float r = td_reduce(x, &n);
    const float one = n > 30 ? 0.0F : td_from_bits((uint32_t)(127 - n) << 23);
    return td_scale((1.0F - one) + td_exp_less_one(r), n);
}

/* x = 2^e * (1 + f) with 1 + f from sqrt(1/2) to sqrt(2), for finite x > 0. */
static float td_split(float x, float *e)
{
    const int small = x < 1.17549435e-38F;
    const uint32_t b = td_bits(small ? x * 8388608.0F : x) + 0x004AFB0DU;
    *e = (float)((int32_t)(b >> 23) - 127 - (small ? 23 : 0));
    return td_from_bits((b & 0x7FFFFFU) + 0x3F3504F3U) - 1.0F;
}

/* log(1 + f) + e * ln 2 + c */
static float td_log_parts(float f, float e, float c)
{
    static const float series[] = {6.666678e-01F, 3.997708e-01F, 2.988519e-01F};
    const float s = f / (2.0F + f);
    const float z = s * s;
    const float h = 0.5F * f * f;
    const float low = s * (h + z * TD_POLYNOMIAL(z, series)) + (e * TD_LN2_LOW + c);
    return e * TD_LN2_HIGH + (f - (h - low));
}

float td_logf(float x)
{
    if (!(x >= 0.0F)) {
        return td_nan();
    }
    if (x <= 0.0F) {
        return -td_infinity();
    }
    if (x >= td_infinity()) {
        return x;
    }
    float e;
    const float f = td_split(x, &e);
    return td_log_parts(f, e, 0.0F);
}

float td_log1pf(float x)
{
    if (td_fabsf(x) < 2.98023224e-08F) {
        return x;
    }
    if (!(x >= -1.0F)) {
        return td_nan();
    }
    if (x <= -1.0F) {
        return -td_infinity();
    }
    if (x >= td_infinity()) {
        return x;
    }
    const float u = 1.0F + x;
    float e;
    float f = td_split(u, &e);
    float c = 0.0F;
    if (e > 0.0F) {
        c = (1.0F - (u - x)) / u;
    } else if (e < 0.0F) {
        c = (x - (u - 1.0F)) / u;
    } else {
        f = x;
    }
    return td_log_parts(f, e, c);
}

float td_tanhf(float x)
{
    static const float series[] = {-3.3333284e-01F, 1.3331491e-01F, -5.3743497e-02F, 2.0650579e-02F, -5.717037e-03F};
    const float a = td_fabsf(x);
    if (a != a) {
        return x;
    }
    float y = 1.0F;
    if (a < 0.625F) {
        const float z = a * a;
        y = a + a * (z * TD_POLYNOMIAL(z, series));
    } else if (a <= 10.0F) {
        y = 1.0F - 2.0F / (td_expf(2.0F * a) + 1.0F);
    }
    return td_with_sign(y, x);
}

float td_sigmoidf(float x)
{
    const float e = td_expf(-td_fabsf(x));
    return (x >= 0.0F ? 1.0F : e) / (1.0F + e);
}

float td_erff(float x)
{
    static const float near[] = {1.2837917e-01F, -3.7612635e-01F, 1.1283737e-01F, -2.6861774e-02F,
                                 5.207219e-03F,  -8.216547e-04F,  8.698966e-05F};
    static const float far[] = {5.364941e+00F, 4.418161e+00F,   9.237513e-01F,  1.6466144e-02F, -3.5716358e-03F,
                                7.279399e-04F, -1.3788968e-04F, 2.3534025e-05F, 9.3879186e-07F};
    const float a = td_fabsf(x);
    if (a != a) {
        return x;
    }
    float y = 1.0F;
    if (a < 0.875F) {
        y = a + a * TD_POLYNOMIAL(a * a, near);
    } else if (a <= 4.0F) {
        y = 1.0F - td_expf(-TD_POLYNOMIAL(a - 2.0F, far));
    }
    return td_with_sign(y, x);
}

float td_sinhf(float x)
{
    static const float series[] = {1.6666667e-01F, 8.3333505e-03F, 1.9836066e-04F, 2.8174397e-06F};
    const float a = td_fabsf(x);
    if (a < 1.0F) {
        const float z = a * a;
        return td_with_sign(a + a * (z * TD_POLYNOMIAL(z, series)), x);
    }
    const float half = td_exp_scaled(a, -1);
    return td_with_sign(half - 0.25F / half, x);
}

float td_coshf(float x)
{
    const float half = td_exp_scaled(td_fabsf(x), -1);
    return half + 0.25F / half;
}

float td_asinhf(float x)
{
    const float a = td_fabsf(x);
    float y;
    if (a > 8192.0F) {
        y = td_logf(a) + TD_LN2;
    } else {
        const float z = a * a;
        const float root = td_sqrtf(1.0F + z);
        y = a > 2.0F ? td_logf(2.0F * a + 1.0F / (root + a)) : td_log1pf(a + z / (1.0F + root));
    }
    return td_with_sign(y, x);
}

float td_acoshf(float x)
{
    if (!(x >= 1.0F)) {
        return td_nan();
    }
    if (x > 8192.0F) {
        return td_logf(x) + TD_LN2;
    }
    if (x > 2.0F) {
        return td_logf(2.0F * x - 1.0F / (x + td_sqrtf(x * x - 1.0F)));
    }
    const float t = x - 1.0F;
    return td_log1pf(t + td_sqrtf(2.0F * t + t * t));
}

float td_atanhf(float x)
{
    const float a = td_fabsf(x);
    if (!(a <= 1.0F)) {
        return td_nan();
    }
    if (a >= 1.0F) {
        return td_with_sign(td_infinity(), x);
    }
    const float t = a + a;
    return td_with_sign(0.5F * td_log1pf(a < 0.5F ? t + t * a / (1.0F - a) : t / (1.0F - a)), x);
}

#if TD_USE_FPU

float td_sqrtf(float x)
{
    float root;
    __asm__("vsqrt.f32 %0, %1" : "=t"(root) : "t"(x)); /* rounded correctly too */
    return root;
}

#else

/* Digit by digit: 24 bits of the root and one by which it is rounded; a tie cannot happen. */
float td_sqrtf(float x)
{
    const uint32_t b = td_bits(x);
    if (x != x || b == 0x7F800000U || (b & 0x7FFFFFFFU) == 0U) {
        return x;
    }
    if (b >> 31 != 0U) {
        return td_nan();
    }
    uint32_t m = b & 0x7FFFFFU; /* x = m * 2^e */
    int32_t e = (int32_t)(b >> 23) - 150;
    if (b >> 23 != 0U) {
        m |= 0x800000U;
    } else {
        for (e++; m < 0x800000U; e--) {
            m <<= 1;
        }
    }
    if ((e & 1) == 0) {
        m <<= 1;
        e--;
    }
    uint32_t rest = 0;
    uint32_t root = 0;
    m <<= 7;
    for (int32_t i = 0; i < 25; i++) {
        rest = rest << 2 | m >> 30;
        m <<= 2;
        const uint32_t trial = root << 2 | 1U;
        root <<= 1;
        if (rest >= trial) {
            rest -= trial;
            root |= 1U;
        }
    }
    const uint32_t rounded = (root + 1U) >> 1;
    return td_from_bits(((uint32_t)(((e - 25) >> 1) + 151) << 23) + (rounded - 0x800000U));
}

#endif

float td_floorf(float x)
{
    if (!(td_fabsf(x) < 8388608.0F)) {
        return x;
    }
    const float whole = (float)(int32_t)x;
    return td_with_sign(td_fabsf(whole > x ? whole - 1.0F : whole), x);
}

float td_ceilf(float x)
{
    return -td_floorf(-x);
}

float td_rintf(float x)
{
    const float a = td_fabsf(x);
    return a < 8388608.0F ? td_with_sign((a + 8388608.0F) - 8388608.0F, x) : x;
}
