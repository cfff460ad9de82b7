/* td_conv2d_pairs.h - 2-D convolution, int8, one output row a call, two pixels a multiplication (td_pairs.h).
 *
 * y[x][o] = clamp(requant[o](sum over ky, kx, c of in[ky][x * stride + kx * dilation - pad_left][c] * w[o][ky][kx][c]))
 *
 * rows     kernel_h pointers to input rows [in_width][in_channels] int8; a row of padding is a row of the zero point
 * zeros    in_channels bytes of the zero point, for columns outside a row
 * weights  int8 [ceil(out_channels / 2)][kernel_h][kernel_w][in_channels][2]; an odd last channel is paired with zeros
 * requant  one record an output channel, and one more where they are odd; td_pairs.h
 * out      [out_width][out_channels] int8; may lie over input that is no longer needed, four pixels at a time
 * scratch  8 * kernel_h * kernel_w * in_channels bytes: the windows of four pixels
 *
 * Source: TFLite CONV_2D int8.
 */
#ifndef TD_CONV2D_PAIRS_H
#define TD_CONV2D_PAIRS_H

#include "td_pairs.h"
#include "td_window.h"

typedef struct {
    td_window window;
    const int8_t *zeros;
    int32_t out_width;
    int32_t out_channels;
    int32_t zero_point; /* exact: of the output */
    int32_t act_min;
    int32_t act_max;
} td_conv2d_pairs_params;

void td_conv2d_pairs_w8a8(const td_conv2d_pairs_params *restrict p, const int8_t *const *rows,
                          const int8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                          int32_t *scratch);

void td_conv2d_pairs_w8a8_exact(const td_conv2d_pairs_params *restrict p, const int8_t *const *rows,
                                const int8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                                int32_t *scratch);

#endif
