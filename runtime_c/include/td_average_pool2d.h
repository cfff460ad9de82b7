/* td_average_pool2d.h - 2-D average pooling, int8, one output row a call.
 *
 * y[x][c] = clamp(sum over ky, kx of in[ky][x * stride + kx - pad_left][c] / count), rounded half away from zero.
 * Input and output share one scale, so the integers are averaged as they are.
 *
 * rows     kernel_h pointers to input rows [in_width][in_channels] int8; a row of padding is the pointer `pad`
 * out      [out_width][in_channels] int8; may lie over input no longer needed, pixel by pixel
 * count    window positions inside the input; with `count_pad` all of them, padding adding the zero point
 *
 * kernel_h * kernel_w < 2^16. Source: TFLite AVERAGE_POOL_2D int8; ONNX AveragePool for count_include_pad.
 */
#ifndef TD_AVERAGE_POOL2D_H
#define TD_AVERAGE_POOL2D_H

#include "td_window.h"

typedef struct {
    td_window window; /* dilation 1 */
    const int8_t *pad;
    int32_t count_pad;
    int32_t out_width;
    int32_t act_min;
    int32_t act_max;
} td_average_pool2d_params;

void td_average_pool2d_s8(const td_average_pool2d_params *restrict p, const int8_t *const *rows, int8_t *out);

#endif
