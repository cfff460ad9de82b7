/* td_unary_int.c - functions of one integer or bool, and predicates of a float32. */
#include "td_math_bits.h"
#include "td_unary.h"

/* A function of one element x of type `from`; `expression` is its result of type `to`. */
#define TD_DEFINE(name, params, from, to, expression)                                                                  \
    void td_##name(const params *restrict p, const void *in, void *out)                                                \
    {                                                                                                                  \
        const from *const source = in;                                                                                 \
        to *const result = out;                                                                                        \
        for (int32_t i = 0; i < p->size; i++) {                                                                        \
            const from x = source[i];                                                                                  \
            result[i] = (to)(expression);                                                                              \
        }                                                                                                              \
    }

#define TD_LIMITED(x, low, high) (((x) < (low)) ? (low) : ((x) > (high)) ? (high) : (x))

/* Arithmetic in uint64_t wraps. */
#define TD_DEFINE_BITS(bits)                                                                                           \
    TD_DEFINE(neg_##bits, td_unary_params, uint##bits##_t, uint##bits##_t, 0U - (uint64_t)x)                           \
    TD_DEFINE(square_##bits, td_unary_params, uint##bits##_t, uint##bits##_t, (uint64_t)x *(uint64_t)x)                \
    TD_DEFINE(bitwise_not_##bits, td_unary_params, uint##bits##_t, uint##bits##_t, ~(uint64_t)x)                       \
    TD_DEFINE(abs_##bits, td_unary_params, int##bits##_t, uint##bits##_t, x < 0 ? 0U - (uint64_t)x : (uint64_t)x)      \
    TD_DEFINE(sign_s##bits, td_unary_params, int##bits##_t, int##bits##_t, (x > 0) - (x < 0))                          \
    TD_DEFINE(sign_u##bits, td_unary_params, uint##bits##_t, uint##bits##_t, x > 0)                                    \
    TD_DEFINE(clamp_s##bits, td_clamp_int_params, int##bits##_t, int##bits##_t, TD_LIMITED(x, p->low, p->high))        \
    TD_DEFINE(clamp_u##bits, td_clamp_int_params, uint##bits##_t, uint##bits##_t,                                      \
              TD_LIMITED(x, (uint64_t)p->low, (uint64_t)p->high))

TD_DEFINE_BITS(8)
TD_DEFINE_BITS(16)
TD_DEFINE_BITS(32)
TD_DEFINE_BITS(64)

void td_logical_not_u8(const td_unary_params *restrict p, const uint8_t *in, uint8_t *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        out[i] = in[i] == 0U ? 1U : 0U;
    }
}

void td_is_nan_f32(const td_unary_params *restrict p, const float *in, uint8_t *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        out[i] = in[i] != in[i] ? 1U : 0U;
    }
}

void td_is_inf_f32(const td_unary_params *restrict p, const float *in, uint8_t *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        const float x = in[i];
        out[i] = (x >= td_infinity() && p->b > 0.0F) || (x <= -td_infinity() && p->a > 0.0F) ? 1U : 0U;
    }
}
