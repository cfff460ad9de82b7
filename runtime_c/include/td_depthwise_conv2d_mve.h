/* td_depthwise_conv2d_mve.h - depthwise convolution for the vector extension, int8 in and out, one row a call.
 *
 * y[x][c] = clamp(requant(sum over ky, kx of in[ky][x * stride + kx * dilation - pad_left][c] * w[c][ky][kx]))
 *
 * Any window, an even number of channels. A pixel at a time, eight channels together.
 *
 * rows     kernel_h pointers to input rows [in_width][channels] int8
 * stream   weights and requantisation, see td_taps_mve.h; channels missing from the last eight are zeros
 * pad      [channels] of the zero point. A row of padding is this pointer in `rows`; may be NULL where nothing is
 *          padded
 * out      [out_width][channels] int8; may lie over input that is no longer needed, one pixel at a time, reads and
 *          writes of a pixel being mixed
 * scratch  a pointer a tap, aligned to a pointer
 *
 * Source: TFLite DEPTHWISE_CONV_2D int8; technique derived here.
 */
#ifndef TD_DEPTHWISE_CONV2D_MVE_H
#define TD_DEPTHWISE_CONV2D_MVE_H

#include "td_taps_list.h"

typedef struct {
    td_taps_window window;
    int32_t out_width;
    int32_t zero_point; /* of the output */
    int32_t act_min;
    int32_t act_max;
} td_depthwise_conv2d_mve_params;

void td_depthwise_conv2d_w8a8_mve(const td_depthwise_conv2d_mve_params *restrict p, const int8_t *const *rows,
                                  const int32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                                  const int8_t **scratch);

#endif
