/* td_sum_exact.h - element-wise sum or difference with broadcasting, int8 and int16, TFLite's arithmetic as it is.
 *
 * td_sum_exact_s8, _s16   both operands less their zero points are raised by 2^left_shift, brought to a common scale,
 *                         combined and rescaled, each time with double rounding; b_sign is 1 or -1
 * td_sum_pot_s16          scales that are powers of two, the result's being the largest: one operand is shifted to the
 *                         right (halves away from zero), the sum saturates
 *
 * a, b     dense; either may be read again and again (td_broadcast.h)
 * out      dense; may lie exactly over an operand that is not broadcast, or below it
 *
 * Source: TFLite ADD and SUB: reference_integer_ops::Add; int16: reference_ops::Add, Sub16.
 */
#ifndef TD_SUM_EXACT_H
#define TD_SUM_EXACT_H

#include "td_broadcast.h"
#include "td_requant.h"

typedef struct {
    td_broadcast shape;
    int32_t a_zero_point;
    int32_t b_zero_point;
    int32_t left_shift;
    int32_t a_multiplier;
    int32_t a_shift;
    int32_t b_multiplier;
    int32_t b_shift;
    int32_t b_sign;
    int32_t multiplier;
    int32_t shift;
    int32_t zero_point;
    int32_t act_min;
    int32_t act_max;
} td_sum_exact_params;

typedef struct {
    td_broadcast shape;
    int32_t a_shift;
    int32_t b_shift;
    int32_t b_sign;
    int32_t act_min;
    int32_t act_max;
} td_sum_pot_params;

void td_sum_exact_s8(const td_sum_exact_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out);

void td_sum_exact_s16(const td_sum_exact_params *restrict p, const int16_t *a, const int16_t *b, int16_t *out);

void td_sum_pot_s16(const td_sum_pot_params *restrict p, const int16_t *a, const int16_t *b, int16_t *out);

#endif
