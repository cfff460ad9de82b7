/* td_local_response_norm.h - each channel divided by a power of the squares around it, float32, channels last.
 *
 * y[c] = x[c] * (bias + alpha * sum of x[k]^2)^exponent over k = c - before .. c + after, as far as there are channels
 *
 * in, out   [rows, channels], not the same memory. Sums in rising order of k.
 * Source: TFLite LOCAL_RESPONSE_NORMALIZATION; ONNX LRN.
 */
#ifndef TD_LOCAL_RESPONSE_NORM_H
#define TD_LOCAL_RESPONSE_NORM_H

#include "td_arch.h"

typedef struct {
    int32_t rows;
    int32_t channels;
    int32_t before;
    int32_t after;
    float alpha;
    float bias;
    float exponent;
} td_local_response_norm_params;

void td_local_response_norm_f32(const td_local_response_norm_params *restrict p, const float *in, float *out);

#endif
