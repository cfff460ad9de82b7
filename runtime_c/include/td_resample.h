/* td_resample.h - weighted sums along the middle axis of [outer][count][inner], float32.
 *
 * out[o][r][i] = weights[r][0] * in[o][indices[r][0]][i] + weights[r][1] * ..., added from left to right.
 * indices and weights are [rows][taps]; an index outside is taken as the nearest inside. Nothing overlaps.
 * Source: ONNX Resize, linear and cubic.
 */
#ifndef TD_RESAMPLE_H
#define TD_RESAMPLE_H

#include "td_arch.h"

typedef struct {
    int32_t outer;
    int32_t count;
    int32_t inner;
    int32_t rows;
    int32_t taps;
} td_resample_params;

void td_resample_f32(const td_resample_params *restrict p, const int32_t *indices, const float *weights,
                     const float *in, float *out);

#endif
