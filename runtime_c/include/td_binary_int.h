/* td_binary_int.h - arithmetic of two integers, for td_binary_8.c to td_binary_64.c: a file a width, as all of them in
 * one take long to compile. `wide` is the unsigned type in which results are made: they wrap.
 */
#ifndef TD_BINARY_INT_H
#define TD_BINARY_INT_H

#include "td_binary.h"

/* base^power modulo 2^64 */
static inline uint64_t td_power(uint64_t base, uint64_t power)
{
    uint64_t result = 1;
    for (; power != 0U; power >>= 1) {
        if ((power & 1U) != 0U) {
            result *= base;
        }
        base *= base;
    }
    return result;
}

/* For power < 0: without the fraction. */
static inline uint64_t td_power_below(int64_t base, int64_t power)
{
    if (base == 1 || (base == -1 && power % 2 == 0)) {
        return 1;
    }
    return base == -1 ? UINT64_MAX : 0U;
}

#define TD_DEFINE_BITS(bits, wide)                                                                                     \
    TD_DEFINE_BINARY(add_##bits, uint##bits##_t, uint##bits##_t, (wide)x + y)                                          \
    TD_DEFINE_BINARY(sub_##bits, uint##bits##_t, uint##bits##_t, (wide)x - y)                                          \
    TD_DEFINE_BINARY(mul_##bits, uint##bits##_t, uint##bits##_t, (wide)x *y)                                           \
    TD_DEFINE_BINARY(squared_difference_##bits, uint##bits##_t, uint##bits##_t, ((wide)x - y) * ((wide)x - y))         \
    TD_DEFINE_BINARY(bitwise_and_##bits, uint##bits##_t, uint##bits##_t, (wide)x &y)                                   \
    TD_DEFINE_BINARY(bitwise_or_##bits, uint##bits##_t, uint##bits##_t, (wide)x | y)                                   \
    TD_DEFINE_BINARY(bitwise_xor_##bits, uint##bits##_t, uint##bits##_t, (wide)x ^ y)                                  \
    TD_DEFINE_BINARY(shift_left_##bits, uint##bits##_t, uint##bits##_t, y < (bits) ? (wide)x << y : 0U)

#define TD_DEFINE_EXTREMES(type, c_type)                                                                               \
    TD_DEFINE_BINARY(maximum_##type, c_type, c_type, x > y ? x : y)                                                    \
    TD_DEFINE_BINARY(minimum_##type, c_type, c_type, x < y ? x : y)

#define TD_DEFINE_UNSIGNED(type, c_type, bits, wide)                                                                   \
    TD_DEFINE_EXTREMES(type, c_type)                                                                                   \
    TD_DEFINE_BINARY(div_##type, c_type, c_type, y == 0U ? 0U : (wide)x / y)                                           \
    TD_DEFINE_BINARY(floor_div_##type, c_type, c_type, y == 0U ? 0U : (wide)x / y)                                     \
    TD_DEFINE_BINARY(mod_##type, c_type, c_type, y == 0U ? 0U : (wide)x % y)                                           \
    TD_DEFINE_BINARY(fmod_##type, c_type, c_type, y == 0U ? 0U : (wide)x % y)                                          \
    TD_DEFINE_BINARY(pow_##type, c_type, c_type, td_power(x, y))                                                       \
    TD_DEFINE_BINARY(shift_right_##type, c_type, c_type, y < (bits) ? (wide)x >> y : 0U)

/* The lowest integer divided by -1 is outside its type: division by -1 is a negation. */
#define TD_DEFINE_SIGNED(type, c_type, bits, wide)                                                                     \
    static inline c_type td_quotient_##type(c_type x, c_type y)                                                        \
    {                                                                                                                  \
        if (y == 0 || y == -1) {                                                                                       \
            return (c_type)(y == 0 ? 0U : 0U - (wide)x);                                                               \
        }                                                                                                              \
        return (c_type)(x / y);                                                                                        \
    }                                                                                                                  \
    static inline c_type td_rest_##type(c_type x, c_type y)                                                            \
    {                                                                                                                  \
        return (c_type)(y == 0 || y == -1 ? 0 : x % y);                                                                \
    }                                                                                                                  \
    TD_DEFINE_EXTREMES(type, c_type)                                                                                   \
    TD_DEFINE_BINARY(div_##type, c_type, c_type, td_quotient_##type(x, y))                                             \
    TD_DEFINE_BINARY(floor_div_##type, c_type, c_type,                                                                 \
                     td_quotient_##type(x, y) - (td_rest_##type(x, y) != 0 && (x < 0) != (y < 0)))                     \
    TD_DEFINE_BINARY(mod_##type, c_type, c_type,                                                                       \
                     (wide)td_rest_##type(x, y) + (td_rest_##type(x, y) != 0 && (x < 0) != (y < 0) ? (wide)y : 0U))    \
    TD_DEFINE_BINARY(fmod_##type, c_type, c_type, td_rest_##type(x, y))                                                \
    TD_DEFINE_BINARY(pow_##type, c_type, c_type, y >= 0 ? td_power((uint64_t)x, (uint64_t)y) : td_power_below(x, y))   \
    TD_DEFINE_BINARY(prelu_##type, c_type, c_type, x >= 0 ? (wide)x : (wide)x * (wide)y)                               \
    TD_DEFINE_BINARY(shift_right_##type, c_type, c_type, x >> (y >= 0 && y < (bits) ? y : (bits)-1))

#define TD_DEFINE_ALL(bits, wide)                                                                                      \
    TD_DEFINE_BITS(bits, wide)                                                                                         \
    TD_DEFINE_UNSIGNED(u##bits, uint##bits##_t, bits, wide)                                                            \
    TD_DEFINE_SIGNED(s##bits, int##bits##_t, bits, wide)

#endif
