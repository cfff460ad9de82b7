/* td_softmax.h - softmax along the last axis, int8 in, int8 out with scale 1/256 and zero point -128.
 *
 * y[i] = -128 + round(256 * exp(s * (x[i] - max)) / sum over j of exp(s * (x[j] - max)))
 *
 * table    exp(-s * d) in Q0.31 for d = 0 .. table_length - 1; 0 beyond (what TFLite skips)
 * out      [depth] int8; may be the input's memory
 *
 * The sum is Q12.19, its reciprocal three Newton steps. depth <= 4095. Source: TFLite SOFTMAX int8,
 * reference_ops::Softmax; gemmlowp one_over_one_plus_x_for_x_in_0_1.
 */
#ifndef TD_SOFTMAX_H
#define TD_SOFTMAX_H

#include "td_arch.h"

typedef struct {
    int32_t depth;
    int32_t table_length;
} td_softmax_params;

void td_softmax_s8(const td_softmax_params *restrict p, const int8_t *in, const int32_t *restrict table, int8_t *out);

#endif
