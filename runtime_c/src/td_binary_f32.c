/* td_binary_f32.c - arithmetic of two float32. */
#include "td_binary.h"
#include "td_math.h"
#include "td_math_bits.h"

static inline float td_limited(float x, float low, float high)
{
    const float y = x < low ? low : x;
    return y > high ? high : y;
}

/* x - n * y for the whole n nearest to x / y towards 0: exact, bit by bit. */
static float td_remainder(float x, float y)
{
    const uint32_t a = td_bits(x) & 0x7FFFFFFFU;
    const uint32_t b = td_bits(y) & 0x7FFFFFFFU;
    if (a >= 0x7F800000U || b > 0x7F800000U || b == 0U) {
        return td_nan();
    }
    if (a < b) {
        return x;
    }
    const uint32_t divisor = (b & 0x7FFFFFU) | (b >> 23 != 0U ? 0x800000U : 0U);
    const int32_t exponent = b >> 23 != 0U ? (int32_t)(b >> 23) : 1;
    int32_t more = (a >> 23 != 0U ? (int32_t)(a >> 23) : 1) - exponent;
    uint32_t rest = ((a & 0x7FFFFFU) | (a >> 23 != 0U ? 0x800000U : 0U)) % divisor;
    for (; more > 0; more--) {
        rest <<= 1;
        rest = rest >= divisor ? rest - divisor : rest;
    }
    return td_with_sign(td_scale((float)rest, exponent - 150), x);
}

static float td_modulo(float x, float y)
{
    const float rest = td_remainder(x, y);
    return rest != 0.0F && (rest < 0.0F) != (y < 0.0F) ? rest + y : rest;
}

TD_DEFINE_BINARY(add_f32, float, float, td_limited(x + y, p->low, p->high))
TD_DEFINE_BINARY(sub_f32, float, float, td_limited(x - y, p->low, p->high))
TD_DEFINE_BINARY(mul_f32, float, float, td_limited(x *y, p->low, p->high))
TD_DEFINE_BINARY(div_f32, float, float, x / y)
TD_DEFINE_BINARY(floor_div_f32, float, float, td_floorf(x / y))
TD_DEFINE_BINARY(mod_f32, float, float, td_modulo(x, y))
TD_DEFINE_BINARY(fmod_f32, float, float, td_remainder(x, y))
TD_DEFINE_BINARY(squared_difference_f32, float, float, (x - y) * (x - y))
TD_DEFINE_BINARY(maximum_f32, float, float, x > y || x != x ? x : y)
TD_DEFINE_BINARY(minimum_f32, float, float, x < y || x != x ? x : y)
TD_DEFINE_BINARY(prelu_f32, float, float, x >= 0.0F ? x : x * y)
