/* td_layer_norm.h - lines normalised by their own mean and variance, float32.
 *
 * td_layer_norm_f32   y = (x - mean) * (1 / sqrt(variance + epsilon)) * gamma + beta
 * td_rms_norm_f32     y = x * (1 / sqrt(mean square + epsilon)) * gamma + beta
 *
 * gamma, beta   [elements of a line], or NULL for 1 and 0
 *
 * Sums in rising order of a line's elements; the variance is the mean square of the differences from the mean; a mean
 * is a sum divided once. out may be the input's memory where a line's elements are neighbours. Source: ONNX
 * LayerNormalization, RMSNormalization.
 */
#ifndef TD_LAYER_NORM_H
#define TD_LAYER_NORM_H

#include "td_lines.h"

typedef struct {
    td_lines lines;
    float epsilon;
} td_layer_norm_params;

void td_layer_norm_f32(const td_layer_norm_params *restrict p, const float *in, const float *gamma, const float *beta,
                       float *out);

void td_rms_norm_f32(const td_layer_norm_params *restrict p, const float *in, const float *gamma, const float *beta,
                     float *out);

#endif
