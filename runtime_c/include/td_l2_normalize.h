/* td_l2_normalize.h - lines divided by their length.
 *
 * td_l2_normalize_f32   y = x * (1 / max(sqrt(sum of x^2), epsilon)); the sum in rising order of a line's elements
 * td_l2_normalize_s8    the same of x less its zero point, int8 with scale 1/128 and zero point 0: an int32 sum and its
 *                       inverse square root by five Newton steps in Q3.28
 *
 * out may be the input's memory where a line's elements are neighbours.
 * Source: TFLite L2_NORMALIZATION, reference_integer_ops::L2Normalization; ONNX LpNormalization.
 */
#ifndef TD_L2_NORMALIZE_H
#define TD_L2_NORMALIZE_H

#include "td_lines.h"

typedef struct {
    td_lines lines;
    float epsilon;
} td_l2_normalize_f32_params;

typedef struct {
    td_lines lines;
    int32_t zero_point;
} td_l2_normalize_s8_params;

void td_l2_normalize_f32(const td_l2_normalize_f32_params *restrict p, const float *in, float *out);

void td_l2_normalize_s8(const td_l2_normalize_s8_params *restrict p, const int8_t *in, int8_t *out);

#endif
