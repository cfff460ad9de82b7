/* td_conv2d_mve.h - 2-D convolution for the vector extension, int8 in and out, one output row a call.
 *
 * y[x][o] = clamp(requant[o](sum over ky, kx, c of in[ky][x * stride + kx * dilation - pad_left][c] * w[o][ky][kx][c]))
 *
 * rows     kernel_h pointers to input rows [in_width][in_channels] int8
 * stream   weights and requantisation by pairs of channels, see td_block_mve.h; taps in the order [ky][kx][c]
 * pad      [kernel_w][in_channels] of the zero point. A row of padding is this pointer in `rows`; may be NULL where
 *          nothing is padded
 * out      [out_width][out_channels] int8, out_channels <= 2^14; may lie over input that is no longer needed, four
 *          pixels at a time
 * scratch  4 * taps (rounded up to 16) bytes, aligned to 4: the windows of four pixels
 *
 * Source: TFLite CONV_2D int8; technique derived here.
 */
#ifndef TD_CONV2D_MVE_H
#define TD_CONV2D_MVE_H

#include "td_arch.h"

typedef struct {
    int32_t in_width;
    int32_t in_channels;
    int32_t kernel_h;
    int32_t kernel_w;
    int32_t stride;
    int32_t dilation;
    int32_t pad_left;
    int32_t out_width;
    int32_t out_channels;
    int32_t zero_point; /* of the output */
    int32_t act_min;
    int32_t act_max;
} td_conv2d_mve_params;

void td_conv2d_w8a8_mve(const td_conv2d_mve_params *restrict p, const int8_t *const *rows,
                        const int32_t *restrict stream, const int8_t *restrict pad, int8_t *out, int8_t *scratch);

#endif
