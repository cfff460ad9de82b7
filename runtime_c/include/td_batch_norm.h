/* td_batch_norm.h - each channel moved and scaled by its own statistics, float32, channels last.
 *
 * y = x * f + (beta - mean * f), f = gamma / sqrt(variance + epsilon)
 *
 * in, out   [rows, channels]; the others [channels]. Source: ONNX BatchNormalization.
 */
#ifndef TD_BATCH_NORM_H
#define TD_BATCH_NORM_H

#include "td_arch.h"

typedef struct {
    int32_t rows;
    int32_t channels;
    float epsilon;
} td_batch_norm_params;

void td_batch_norm_f32(const td_batch_norm_params *restrict p, const float *in, const float *gamma, const float *beta,
                       const float *mean, const float *variance, float *out);

#endif
