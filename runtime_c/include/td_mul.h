/* td_mul.h - element-wise product, int8 or int16, with broadcasting.
 *
 * y = clamp(requant((a - a_zero_point) * (b - b_zero_point)))
 *
 * a, b     int8 or int16, dense; either may be read again and again (td_broadcast.h)
 * requant  one record, td_requant.h
 * out      of the same type, dense; may lie exactly over an operand that is not broadcast, or below it
 *
 * Source: TFLite MUL int8, int16.
 */
#ifndef TD_MUL_H
#define TD_MUL_H

#include "td_broadcast.h"
#include "td_requant.h"

typedef struct {
    td_broadcast shape;
    int32_t a_zero_point;
    int32_t b_zero_point;
    int32_t shift;      /* affine: shift to the right */
    int32_t zero_point; /* exact: of the output */
    int32_t act_min;
    int32_t act_max;
} td_mul_params;

void td_mul_s8(const td_mul_params *restrict p, const int8_t *a, const int8_t *b, const td_affine *restrict requant,
               int8_t *out);

void td_mul_s8_exact(const td_mul_params *restrict p, const int8_t *a, const int8_t *b,
                     const td_exact *restrict requant, int8_t *out);

void td_mul_s16_exact(const td_mul_params *restrict p, const int16_t *a, const int16_t *b,
                      const td_exact *restrict requant, int16_t *out);

#endif
