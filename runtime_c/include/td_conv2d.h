/* td_conv2d.h - 2-D convolution, int8 in and out, one output row a call.
 *
 * y[x][o] = clamp(requant[o](sum over ky, kx, c of in[ky][x * stride + kx * dilation - pad_left][c] * w[o][ky][kx][c]))
 *
 * rows     kernel_h pointers to input rows [in_width][in_channels] int8; a row of padding is a row of the zero point
 * weights  int8, by group and by pair of output channels: [group][pair][kernel_h][kernel_w][in_channels / groups][2];
 *          an odd last channel of a group is paired with zeros
 * requant  one record an output channel, td_requant.h
 * out      [out_width][out_channels] int8; may lie over input that is no longer needed, two pixels at a time
 * scratch  2 * kernel_h * kernel_w * in_channels / groups bytes: the windows of two pixels
 *
 * Sums are int32: kernel_h * kernel_w * in_channels / groups <= 2^16. Source: TFLite CONV_2D int8.
 */
#ifndef TD_CONV2D_H
#define TD_CONV2D_H

#include "td_requant.h"
#include "td_window.h"

typedef struct {
    td_window window;
    int32_t out_width;
    int32_t out_channels;
    int32_t groups;
    int32_t shift;      /* affine: common shift to the right */
    int32_t zero_point; /* exact: of the output */
    int32_t act_min;
    int32_t act_max;
} td_conv2d_params;

void td_conv2d_w8a8(const td_conv2d_params *restrict p, const int8_t *const *rows, const int8_t *restrict weights,
                    const td_affine *restrict requant, int8_t *out, int8_t *scratch);

void td_conv2d_w8a8_exact(const td_conv2d_params *restrict p, const int8_t *const *rows, const int8_t *restrict weights,
                          const td_exact *restrict requant, int8_t *out, int8_t *scratch);

#endif
