/* td_unary_f32.c - functions of one float32. */
#include "td_math.h"
#include "td_math_bits.h"
#include "td_unary_loop.h"

static inline float td_sign(float x)
{
    const float sign = x > 0.0F ? 1.0F : 0.0F;
    return x < 0.0F ? -1.0F : x != x ? x : sign;
}

static inline float td_limited(float x, float low, float high)
{
    const float y = x < low ? low : x;
    return y > high ? high : y;
}

TD_DEFINE_F32(abs, td_fabsf(x))
TD_DEFINE_F32(neg, -x)
TD_DEFINE_F32(sign, td_sign(x))
TD_DEFINE_F32(square, x *x)
TD_DEFINE_F32(sqrt, td_sqrtf(x))
TD_DEFINE_F32(rsqrt, 1.0F / td_sqrtf(x))
TD_DEFINE_F32(reciprocal, 1.0F / x)
TD_DEFINE_F32(floor, td_floorf(x))
TD_DEFINE_F32(ceil, td_ceilf(x))
TD_DEFINE_F32(round, td_rintf(x))
TD_DEFINE_F32(clip, td_limited(x, p->a, p->b))
TD_DEFINE_F32(exp, td_expf(x))
TD_DEFINE_F32(log, td_logf(x))
TD_DEFINE_F32(log1p, td_log1pf(x))
TD_DEFINE_F32(expm1, td_expm1f(x))
TD_DEFINE_F32(sinh, td_sinhf(x))
TD_DEFINE_F32(cosh, td_coshf(x))
TD_DEFINE_F32(tanh, td_tanhf(x))
TD_DEFINE_F32(asinh, td_asinhf(x))
TD_DEFINE_F32(acosh, td_acoshf(x))
TD_DEFINE_F32(atanh, td_atanhf(x))
TD_DEFINE_F32(erf, td_erff(x))
TD_DEFINE_F32(logistic, td_sigmoidf(x))
