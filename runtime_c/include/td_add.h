/* td_add.h - element-wise sum or difference, int8, with broadcasting.
 *
 * y = clamp((a * a_multiplier + b * b_multiplier + offset) >> shift), all in int32
 *
 * The converter has compared this with TFLite's arithmetic of three rescalings on all 65,536 pairs (a, b). A difference
 * has a negative b_multiplier.
 *
 * a, b     int8, dense; either may be read again and again (td_broadcast.h)
 * out      int8, dense; may lie exactly over an operand that is not broadcast, or below it
 *
 * Source: TFLite ADD and SUB int8.
 */
#ifndef TD_ADD_H
#define TD_ADD_H

#include "td_broadcast.h"

typedef struct {
    td_broadcast shape;
    int32_t a_multiplier;
    int32_t b_multiplier;
    int32_t offset;
    int32_t shift;
    int32_t act_min;
    int32_t act_max;
} td_add_params;

void td_add_s8(const td_add_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out);

#endif
