/* td_add_mve.h - element-wise sum or difference of two dense int8 operands, for the vector extension.
 *
 * y = clamp((a * a_multiplier + b * b_multiplier + offset) >> shift), all in int32; proved by the converter on all
 * pairs
 *
 * a, b, out  [size] int8, size > 0; out may lie exactly over an operand, or below it
 *
 * Source: TFLite ADD and SUB int8.
 */
#ifndef TD_ADD_MVE_H
#define TD_ADD_MVE_H

#include "td_arch.h"

typedef struct {
    int32_t a_multiplier;
    int32_t b_multiplier;
    int32_t offset;
    int32_t size;
    int32_t shift;
    int32_t act_min;
    int32_t act_max;
} td_add_mve_params;

void td_add_s8_mve(const td_add_mve_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out);

#endif
