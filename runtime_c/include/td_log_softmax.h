/* td_log_softmax.h - logarithm of the softmax along the last axis, int8 in, int8 out with scale 1/16 and zero point
 * 127.
 *
 * y[i] = 127 + round(16 * (d[i] - log(sum over j of exp(d[j]))))   with d[i] = s * (x[i] - max); -128 where d[i] is
 * below the least difference that counts
 *
 * rescaled   -s * d in Q5.26 for d = 0 .. 255
 * terms      exp of it in Q12.19 for d = 0 .. terms_length - 1; 0 beyond (what TFLite skips)
 * out        [depth] int8; may be the input's memory
 *
 * The sum is Q12.19 (depth <= 4095), its logarithm Q5.26 by a rational function.
 * Source: TFLite LOG_SOFTMAX int8, reference_integer_ops::LogSoftmax, log_x_for_x_greater_than_or_equal_to_1_impl.
 */
#ifndef TD_LOG_SOFTMAX_H
#define TD_LOG_SOFTMAX_H

#include "td_arch.h"

typedef struct {
    int32_t depth;
    int32_t terms_length;
    int32_t multiplier; /* from Q5.26 to steps of the input */
    int32_t shift;      /* to the left where positive */
    int32_t least;      /* differences up to this one do not count */
} td_log_softmax_params;

void td_log_softmax_s8(const td_log_softmax_params *restrict p, const int8_t *in, const int32_t *restrict rescaled,
                       const int32_t *restrict terms, int8_t *out);

#endif
