/* td_depthwise_conv2d.h - depthwise 2-D convolution, int8 in and out, one output row a call.
 *
 * y[x][c * multiplier + m] = clamp(requant(sum over ky, kx of
 *                            in[ky][x * stride + kx * dilation - pad_left][c] * w[c * multiplier + m][ky][kx]))
 *
 * rows     kernel_h pointers to input rows [in_width][in_channels] int8; a row of padding is a row of the zero point
 * weights  int8 [in_channels * multiplier][kernel_h][kernel_w]
 * requant  one record an output channel, td_requant.h
 * out      [out_width][in_channels * multiplier] int8; may lie over input no longer needed: pixels before
 *          inner_begin and from inner_end on are made one by one, those between in fours and then one by one
 *
 * Sums are int32: kernel_h * kernel_w <= 2^16. Source: TFLite DEPTHWISE_CONV_2D int8.
 */
#ifndef TD_DEPTHWISE_CONV2D_H
#define TD_DEPTHWISE_CONV2D_H

#include "td_requant.h"
#include "td_window.h"

typedef struct {
    td_window window;
    int32_t out_width;
    int32_t multiplier;
    int32_t inner_begin; /* columns whose windows lie inside the row: inner_begin <= x < inner_end */
    int32_t inner_end;
    int32_t shift;      /* affine: common shift to the right */
    int32_t zero_point; /* exact: of the output */
    int32_t act_min;
    int32_t act_max;
} td_depthwise_conv2d_params;

void td_depthwise_conv2d_w8a8(const td_depthwise_conv2d_params *restrict p, const int8_t *const *rows,
                              const int8_t *restrict weights, const td_affine *restrict requant, int8_t *out);

void td_depthwise_conv2d_w8a8_exact(const td_depthwise_conv2d_params *restrict p, const int8_t *const *rows,
                                    const int8_t *restrict weights, const td_exact *restrict requant, int8_t *out);

#endif
