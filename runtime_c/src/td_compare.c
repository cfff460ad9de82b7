/* td_compare.c - comparisons of two numbers: uint8_t, 0 or 1. */
#include "td_binary.h"

#define TD_DEFINE_ORDER(type, c_type)                                                                                  \
    TD_DEFINE_BINARY(less_##type, c_type, uint8_t, x < y)                                                              \
    TD_DEFINE_BINARY(less_equal_##type, c_type, uint8_t, x <= y)                                                       \
    TD_DEFINE_BINARY(greater_##type, c_type, uint8_t, x > y)                                                           \
    TD_DEFINE_BINARY(greater_equal_##type, c_type, uint8_t, x >= y)

#define TD_DEFINE_EQUAL(type, c_type)                                                                                  \
    TD_DEFINE_BINARY(equal_##type, c_type, uint8_t, x == y)                                                            \
    TD_DEFINE_BINARY(not_equal_##type, c_type, uint8_t, x != y)

#define TD_DEFINE_BITS(bits)                                                                                           \
    TD_DEFINE_EQUAL(bits, uint##bits##_t)                                                                              \
    TD_DEFINE_ORDER(s##bits, int##bits##_t)                                                                            \
    TD_DEFINE_ORDER(u##bits, uint##bits##_t)

TD_DEFINE_EQUAL(f32, float)
TD_DEFINE_ORDER(f32, float)
TD_DEFINE_BITS(8)
TD_DEFINE_BITS(16)
TD_DEFINE_BITS(32)
TD_DEFINE_BITS(64)
