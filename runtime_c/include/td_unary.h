/* td_unary.h - functions of one element: out[i] = f(in[i]).
 *
 * td_<name>_f32  float32, every operation rounded to float32 in the order written in td_unary*_f32.c
 * td_<name>_s32  and so on: integers of that type, wrapping; 8, 16, 32, 64: of any type of so many bits; u8: bool too
 *
 * One element after the other in rising order; out may lie exactly over in or below it.
 * Source: ONNX and TFLite operators of these names.
 */
#ifndef TD_UNARY_H
#define TD_UNARY_H

#include "td_arch.h"

typedef struct {
    int32_t size; /* elements */
    float a;      /* the operator's parameters, 0 where it has none */
    float b;
} td_unary_params;

typedef struct {
    int32_t size;
    int64_t low; /* limits, modulo 2^64 */
    int64_t high;
} td_clamp_int_params;

#define TD_UNARY_F32(name) void td_##name##_f32(const td_unary_params *restrict p, const float *in, float *out)

/* td_unary_f32.c, needs td_math.c */
TD_UNARY_F32(abs);
TD_UNARY_F32(neg);
TD_UNARY_F32(sign);
TD_UNARY_F32(square);
TD_UNARY_F32(sqrt);
TD_UNARY_F32(rsqrt);
TD_UNARY_F32(reciprocal);
TD_UNARY_F32(floor);
TD_UNARY_F32(ceil);
TD_UNARY_F32(round);
TD_UNARY_F32(clip); /* a: low, b: high */
TD_UNARY_F32(exp);
TD_UNARY_F32(log);
TD_UNARY_F32(log1p);
TD_UNARY_F32(expm1);
TD_UNARY_F32(sinh);
TD_UNARY_F32(cosh);
TD_UNARY_F32(tanh);
TD_UNARY_F32(asinh);
TD_UNARY_F32(acosh);
TD_UNARY_F32(atanh);
TD_UNARY_F32(erf);
TD_UNARY_F32(logistic);

/* td_activation_f32.c, needs td_math.c */
TD_UNARY_F32(elu);              /* a: alpha */
TD_UNARY_F32(selu);             /* a: alpha, b: gamma */
TD_UNARY_F32(celu);             /* a: alpha */
TD_UNARY_F32(leaky_relu);       /* a: alpha */
TD_UNARY_F32(hard_sigmoid);     /* a: alpha, b: beta */
TD_UNARY_F32(thresholded_relu); /* a: alpha */
TD_UNARY_F32(shrink);           /* a: lambd, b: bias */
TD_UNARY_F32(swish);            /* a: alpha */
TD_UNARY_F32(hard_swish);
TD_UNARY_F32(gelu);
TD_UNARY_F32(gelu_tanh);
TD_UNARY_F32(mish);
TD_UNARY_F32(softplus);
TD_UNARY_F32(softsign);

/* td_unary_trig_f32.c, needs td_math.c and td_math_trig.c */
TD_UNARY_F32(sin);
TD_UNARY_F32(cos);
TD_UNARY_F32(tan);
TD_UNARY_F32(asin);
TD_UNARY_F32(acos);
TD_UNARY_F32(atan);

/* td_unary_int.c */
void td_is_nan_f32(const td_unary_params *restrict p, const float *in, uint8_t *out);
void td_is_inf_f32(const td_unary_params *restrict p, const float *in, uint8_t *out); /* a: negative, b: positive */
void td_logical_not_u8(const td_unary_params *restrict p, const uint8_t *in, uint8_t *out);

#define TD_UNARY_BITS(bits)                                                                                            \
    void td_neg_##bits(const td_unary_params *restrict p, const void *in, void *out);                                  \
    void td_square_##bits(const td_unary_params *restrict p, const void *in, void *out);                               \
    void td_bitwise_not_##bits(const td_unary_params *restrict p, const void *in, void *out);                          \
    void td_abs_##bits(const td_unary_params *restrict p, const void *in, void *out); /* signed */                     \
    void td_sign_s##bits(const td_unary_params *restrict p, const void *in, void *out);                                \
    void td_sign_u##bits(const td_unary_params *restrict p, const void *in, void *out);                                \
    void td_clamp_s##bits(const td_clamp_int_params *restrict p, const void *in, void *out);                           \
    void td_clamp_u##bits(const td_clamp_int_params *restrict p, const void *in, void *out);

TD_UNARY_BITS(8)
TD_UNARY_BITS(16)
TD_UNARY_BITS(32)
TD_UNARY_BITS(64)

#endif
