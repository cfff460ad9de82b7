/* td_max_pool2d.h - 2-D maximum pooling, int8, one output row a call.
 *
 * y[x][c] = clamp(max over ky, kx of in[ky][x * stride + kx * dilation - pad_left][c]); columns outside never win
 *
 * rows     kernel_h pointers to input rows [in_width][in_channels] int8; a row of padding is a row of -128
 * out      [out_width][in_channels] int8; may lie over input no longer needed, pixel by pixel
 *
 * Source: TFLite MAX_POOL_2D int8.
 */
#ifndef TD_MAX_POOL2D_H
#define TD_MAX_POOL2D_H

#include "td_window.h"

typedef struct {
    td_window window;
    int32_t out_width;
    int32_t act_min;
    int32_t act_max;
} td_max_pool2d_params;

void td_max_pool2d_s8(const td_max_pool2d_params *restrict p, const int8_t *const *rows, int8_t *out);

#endif
