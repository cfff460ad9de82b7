/* td_pairs_s8.h - functions of two int8 elements with scales of their own, with broadcasting.
 *
 * td_prelu_scaled_s8                y = x >= 0 ? double_round(x * real) : double_round(x * slope * real'); td_requant.h
 * td_squared_difference_scaled_s8   both on a common scale, raised by 2^7; the square of their difference rescaled
 * td_div_scaled_s8                  the reciprocal of b comes from a table of Newton's results, quotients have double
 * rounding; by 0: the largest or lowest number, 0 / 0 is 0 td_<comparison>_ranked     uint8_t, 0 or 1: tables give each
 * int8 of both operands its rank among all of them
 *
 * a, b     int8, dense; either may be read again and again (td_broadcast.h)
 * out      dense; may lie over an operand as far as the converter's access plan says
 *
 * Source: TFLite PRELU, SQUARED_DIFFERENCE, DIV, EQUAL ... GREATER_EQUAL int8.
 */
#ifndef TD_PAIRS_S8_H
#define TD_PAIRS_S8_H

#include "td_broadcast.h"
#include "td_requant.h"

typedef struct {
    td_broadcast shape;
    int32_t a_zero_point;
    int32_t b_zero_point;
    int32_t multiplier; /* at or above zero */
    int32_t shift;
    int32_t low_multiplier; /* below, of products with the slope */
    int32_t low_shift;
    int32_t zero_point;
} td_prelu_params;

typedef struct {
    td_broadcast shape;
    int32_t a_zero_point;
    int32_t b_zero_point;
    int32_t left_shift;
    int32_t a_multiplier;
    int32_t a_shift;
    int32_t b_multiplier;
    int32_t b_shift;
    int32_t multiplier;
    int32_t shift;
    int32_t zero_point;
} td_squared_difference_params;

typedef struct {
    int32_t inverse; /* of |b|, with its sign; 0 where b is 0 */
    int32_t shift;   /* quotients go so far to the right, less the shift of a to the left */
} td_reciprocal;

typedef struct {
    td_broadcast shape;
    int32_t a_zero_point;
    int32_t multiplier;
    int32_t zero_point;
} td_div_params;

typedef struct {
    td_broadcast shape;
    const uint16_t *a_rank; /* 256 each, by the bytes of int8 */
    const uint16_t *b_rank;
} td_ranked_params;

void td_prelu_scaled_s8(const td_prelu_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out);

void td_squared_difference_scaled_s8(const td_squared_difference_params *restrict p, const int8_t *a, const int8_t *b,
                                     int8_t *out);

/* reciprocals: 256, by the bytes of int8 */
void td_div_scaled_s8(const td_div_params *restrict p, const td_reciprocal *restrict reciprocals, const int8_t *a,
                      const int8_t *b, int8_t *out);

#define TD_RANKED(name)                                                                                                \
    void td_##name##_ranked(const td_ranked_params *restrict p, const int8_t *a, const int8_t *b, uint8_t *out)

TD_RANKED(equal);
TD_RANKED(not_equal);
TD_RANKED(less);
TD_RANKED(less_equal);
TD_RANKED(greater);
TD_RANKED(greater_equal);

#endif
