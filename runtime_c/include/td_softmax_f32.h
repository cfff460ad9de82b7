/* td_softmax_f32.h - softmax and its logarithm along one axis, float32.
 *
 * td_softmax_f32       y[i] = exp(beta * (x[i] - max)) * (1 / sum over j of exp(beta * (x[j] - max)))
 * td_log_softmax_f32   y[i] = (x[i] - max) - log(sum over j of exp(x[j] - max)); beta is not read
 *
 * in, out   [outer, depth, inner], along depth; out may be the input's memory if inner is 1
 *
 * Sums in rising order. Source: TFLite SOFTMAX, LOG_SOFTMAX; ONNX Softmax, LogSoftmax.
 */
#ifndef TD_SOFTMAX_F32_H
#define TD_SOFTMAX_F32_H

#include "td_arch.h"

typedef struct {
    int32_t outer;
    int32_t depth;
    int32_t inner;
    float beta;
} td_softmax_f32_params;

void td_softmax_f32(const td_softmax_f32_params *restrict p, const float *in, float *out);

void td_log_softmax_f32(const td_softmax_f32_params *restrict p, const float *in, float *out);

#endif
