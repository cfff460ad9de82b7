/* td_binary.h - functions of two elements with broadcasting: out = f(a, b).
 *
 * td_<name>_f32  float32, every operation rounded to float32 in the order written in td_binary*_f32.c
 * td_<name>_s32  and so on: integers of that type; td_<name>_32: of any type of 32 bits. Results wrap. Division by 0
 *                gives 0, and so does its remainder.
 *
 * a, b may be read again and again (td_broadcast.h); out is dense, and may lie over them as far as the converter's
 * access plan says. Results of comparisons are uint8_t, 0 or 1; bools are bitwise_*_8.
 * Source: ONNX and TFLite operators of these names.
 */
#ifndef TD_BINARY_H
#define TD_BINARY_H

#include "td_broadcast.h"

typedef struct {
    td_broadcast shape;
    float low; /* limits of add, sub and mul in float32 */
    float high;
} td_binary_params;

#define TD_BINARY(name) void td_##name(const td_binary_params *restrict p, const void *a, const void *b, void *out)

/* The function td_<name>, whose result is `expression` of x and y of type `from`, converted to `to`. */
#define TD_DEFINE_BINARY(name, from, to, expression)                                                                   \
    TD_BINARY(name)                                                                                                    \
    {                                                                                                                  \
        to *result = out;                                                                                              \
        td_position at = {{0}, 0, 0};                                                                                  \
        do {                                                                                                           \
            const from *left = (const from *)a + at.a;                                                                 \
            const from *right = (const from *)b + at.b;                                                                \
            for (to *const end = result + p->shape.inner; result != end; result++) {                                   \
                const from x = *left;                                                                                  \
                const from y = *right;                                                                                 \
                *result = (to)(expression);                                                                            \
                left += p->shape.a_inner_step;                                                                         \
                right += p->shape.b_inner_step;                                                                        \
            }                                                                                                          \
        } while (td_broadcast_next(&p->shape, &at));                                                                   \
    }

/* td_binary_f32.c, needs td_math.c */
TD_BINARY(add_f32);
TD_BINARY(sub_f32);
TD_BINARY(mul_f32);
TD_BINARY(div_f32);
TD_BINARY(floor_div_f32);
TD_BINARY(mod_f32);  /* sign of b */
TD_BINARY(fmod_f32); /* sign of a */
TD_BINARY(squared_difference_f32);
TD_BINARY(maximum_f32); /* NaN if one is */
TD_BINARY(minimum_f32);
TD_BINARY(prelu_f32);

/* td_binary_math_f32.c, needs td_math.c, td_math_trig.c, td_math_pow.c */
TD_BINARY(pow_f32);
TD_BINARY(atan2_f32);

/* td_compare.c */
TD_BINARY(equal_f32);
TD_BINARY(not_equal_f32);
TD_BINARY(less_f32);
TD_BINARY(less_equal_f32);
TD_BINARY(greater_f32);
TD_BINARY(greater_equal_f32);

/* td_compare.c */
#define TD_COMPARISONS(type)                                                                                           \
    TD_BINARY(less_##type);                                                                                            \
    TD_BINARY(less_equal_##type);                                                                                      \
    TD_BINARY(greater_##type);                                                                                         \
    TD_BINARY(greater_equal_##type);

/* td_binary_8.c to td_binary_64.c */
#define TD_BINARY_TYPE(type)                                                                                           \
    TD_BINARY(div_##type);                                                                                             \
    TD_BINARY(floor_div_##type);                                                                                       \
    TD_BINARY(mod_##type);                                                                                             \
    TD_BINARY(fmod_##type);                                                                                            \
    TD_BINARY(pow_##type);                                                                                             \
    TD_BINARY(maximum_##type);                                                                                         \
    TD_BINARY(minimum_##type);                                                                                         \
    TD_BINARY(shift_right_##type);

/* td_binary_8.c to td_binary_64.c but for the comparisons */
#define TD_BINARY_BITS(bits)                                                                                           \
    TD_BINARY(equal_##bits);                                                                                           \
    TD_BINARY(not_equal_##bits);                                                                                       \
    TD_BINARY(add_##bits);                                                                                             \
    TD_BINARY(sub_##bits);                                                                                             \
    TD_BINARY(mul_##bits);                                                                                             \
    TD_BINARY(squared_difference_##bits);                                                                              \
    TD_BINARY(bitwise_and_##bits);                                                                                     \
    TD_BINARY(bitwise_or_##bits);                                                                                      \
    TD_BINARY(bitwise_xor_##bits);                                                                                     \
    TD_BINARY(shift_left_##bits);                                                                                      \
    TD_BINARY(prelu_s##bits);                                                                                          \
    TD_BINARY_TYPE(s##bits)                                                                                            \
    TD_BINARY_TYPE(u##bits)                                                                                            \
    TD_COMPARISONS(s##bits)                                                                                            \
    TD_COMPARISONS(u##bits)

TD_BINARY_BITS(8)
TD_BINARY_BITS(16)
TD_BINARY_BITS(32)
TD_BINARY_BITS(64)

#endif
