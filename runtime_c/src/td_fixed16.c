/* td_fixed16.c - plain C. */
#include "td_fixed16.h"

#define TD_EXP_MINUS_EIGHTH 28918 /* Q0.15 */
#define TD_ONE_THIRD        10923

/* exp(-2^p) in Q0.15 for p = -2 .. 4 */
static const int16_t td_exp_steps[7] = {25520, 19875, 12055, 4435, 600, 11, 0};

/* round(a * b / 2^15), halves up; never both -2^15. */
static int32_t td_mul_q15(int32_t a, int32_t b)
{
    return (a * b + (1 << 14)) >> 15;
}

static int32_t td_saturate16(int32_t x)
{
    return td_clamp(x, INT16_MIN, INT16_MAX);
}

/* exp(a) for a in [-1/4, 0), Q0.15. */
static int32_t td_exp_near_minus_eighth(int32_t a)
{
    const int32_t x = a + (1 << 12);
    const int32_t x2 = td_mul_q15(x, x);
    const int32_t x3 = td_mul_q15(x2, x);
    const int32_t x4 = td_mul_q15(x2, x2);
    const int32_t third = td_mul_q15(td_rounding_shift(x4, 2) + x3, TD_ONE_THIRD);
    const int32_t series = td_rounding_shift(third + x2, 1);
    return td_saturate16(TD_EXP_MINUS_EIGHTH + td_mul_q15(TD_EXP_MINUS_EIGHTH, x + series));
}

/* exp(a) for a <= 0 with integer_bits 0..7, Q0.15. */
static int32_t td_exp_q15(int32_t a, int32_t integer_bits)
{
    const int32_t fractional_bits = 15 - integer_bits;
    const int32_t quarter = 1 << (fractional_bits - 2);
    if (a == 0) {
        return INT16_MAX;
    }
    if (integer_bits > 5 && a < -(32 * (1 << fractional_bits))) {
        return 0;
    }
    const int32_t reduced = (a & (quarter - 1)) - quarter;
    const int32_t rest = reduced - a;
    int32_t y = td_exp_near_minus_eighth(td_saturate16(reduced * (1 << integer_bits)));
    for (int32_t i = 0; i < 7 && i < integer_bits + 2; i++) {
        if ((rest & (1 << (fractional_bits - 2 + i))) != 0) {
            y = td_mul_q15(y, td_exp_steps[i]);
        }
    }
    return y;
}

/* 1 / (1 + a) in Q2.13 for a in [0, 1), Q0.15. */
static int32_t td_one_over_one_plus_q13(int32_t a)
{
    const int32_t half = (a + INT16_MAX + 1) >> 1;
    int32_t x = 23130 + td_mul_q15(half, -15420); /* 48 / 17 - 32 / 17 * (1 + a) / 2 */
    for (int32_t i = 0; i < 3; i++) {
        const int32_t error = (1 << 13) - td_mul_q15(half, x);
        x = (int16_t)(x + td_saturate16(td_mul_q15(x, error) * 4));
    }
    return x;
}

int32_t td_sigmoid_q15(int32_t x, int32_t integer_bits)
{
    if (x == 0) {
        return 1 << 14;
    }
    const int32_t y = td_one_over_one_plus_q13(td_exp_q15(x < 0 ? x : -x, integer_bits));
    const int32_t positive = td_saturate16(y * 2);
    return x > 0 ? positive : INT16_MAX - positive;
}

int32_t td_tanh_q15(int32_t x, int32_t integer_bits)
{
    if (x == 0) {
        return 0;
    }
    const int32_t y = td_one_over_one_plus_q13(td_exp_q15(x < 0 ? x : -x, integer_bits + 1));
    const int32_t size = td_saturate16((y - (1 << 13)) * 4);
    return x > 0 ? size : -size;
}
