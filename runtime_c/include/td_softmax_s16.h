/* td_softmax_s16.h - softmax along one axis of [outer][depth][inner], int16 in, int16 out in steps of 2^-15.
 *
 * exp_table         513 values of exp on [-10, 0] in steps of 2^-15, td_sigmoid_s16.h
 * reciprocal_table  513 values of 1 / (1 + x) on [0, 1]
 * multiplier        Q31 with shift, from differences of inputs to 65535 steps of exp_table's range
 * out               may lie exactly over in
 *
 * depth <= 65535. Source: TFLite SOFTMAX int16, reference_ops::SoftmaxInt16.
 */
#ifndef TD_SOFTMAX_S16_H
#define TD_SOFTMAX_S16_H

#include "td_arch.h"

typedef struct {
    int32_t outer;
    int32_t depth;
    int32_t inner;
    int32_t multiplier;
    int32_t shift;
} td_softmax_s16_params;

void td_softmax_s16(const td_softmax_s16_params *restrict p, const int16_t *restrict exp_table,
                    const int16_t *restrict reciprocal_table, const int16_t *in, int16_t *out);

#endif
