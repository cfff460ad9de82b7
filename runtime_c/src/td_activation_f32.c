/* td_activation_f32.c - activation functions of one float32. */
#include "td_math.h"
#include "td_math_bits.h"
#include "td_unary_loop.h"

static inline float td_unit(float x)
{
    const float most = x > 1.0F ? 1.0F : x;
    return x < 0.0F ? 0.0F : most;
}

static float td_softplus(float x)
{
    return (x > 0.0F ? x : 0.0F) + td_log1pf(td_expf(-td_fabsf(x)));
}

static inline float td_shrink(float x, float lambd, float bias)
{
    const float below = x < -lambd ? x + bias : 0.0F;
    return x > lambd ? x - bias : below;
}

static inline float td_gelu_inner(float x)
{
    return 0.7978846F * (x + 0.044715F * (x * x * x)); /* sqrt(2 / pi) */
}

TD_DEFINE_F32(elu, x >= 0.0F ? x : p->a * td_expm1f(x))
TD_DEFINE_F32(selu, p->b *(x >= 0.0F ? x : p->a * td_expm1f(x)))
TD_DEFINE_F32(celu, x >= 0.0F ? x : p->a * td_expm1f(x / p->a))
TD_DEFINE_F32(leaky_relu, x >= 0.0F ? x : p->a * x)
TD_DEFINE_F32(hard_sigmoid, td_unit(p->a *x + p->b))
TD_DEFINE_F32(thresholded_relu, x > p->a ? x : 0.0F)
TD_DEFINE_F32(shrink, td_shrink(x, p->a, p->b))
TD_DEFINE_F32(swish, x *td_sigmoidf(p->a *x))
TD_DEFINE_F32(hard_swish, x *td_unit(x * 0.16666667F + 0.5F))
TD_DEFINE_F32(gelu, 0.5F * x * (1.0F + td_erff(x * 0.70710677F)))
TD_DEFINE_F32(gelu_tanh, 0.5F * x * (1.0F + td_tanhf(td_gelu_inner(x))))
TD_DEFINE_F32(mish, x *td_tanhf(td_softplus(x)))
TD_DEFINE_F32(softplus, td_softplus(x))
TD_DEFINE_F32(softsign, x / (1.0F + td_fabsf(x)))
