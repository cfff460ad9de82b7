/* td_depthwise_columns.h - depthwise 2-D convolution, int8, one output row a call, blocks of up to four pixels.
 *
 * y[x][c] = clamp(requant[c](sum over ky, kx of in[ky][x * stride + kx * dilation - pad_left][c] * w[c][ky][kx]))
 *
 * A block finds its columns through a table of pointers, so the ends of a row cost nothing extra and a column that
 * several pixels see is loaded once for all of them.
 *
 * rows     kernel_h pointers to input rows [in_width][in_channels] int8; a row of padding is a row of the zero point
 * zeros    in_channels bytes of the zero point, for columns outside a row
 * weights  int8 [in_channels][kernel_h][kernel_w]
 * requant  one record a channel, td_requant.h
 * out      [out_width][in_channels] int8; may lie over input no longer needed, block by block: fours, then a last one
 *          of three, two or one
 * scratch  kernel_h * columns pointers, columns = 3 * stride + (kernel_w - 1) * dilation + 1
 *
 * Source: TFLite DEPTHWISE_CONV_2D int8 with multiplier 1.
 */
#ifndef TD_DEPTHWISE_COLUMNS_H
#define TD_DEPTHWISE_COLUMNS_H

#include "td_requant.h"
#include "td_window.h"

typedef struct {
    td_window window;
    const int8_t *zeros;
    int32_t out_width;
    int32_t shift;      /* affine: common shift to the right */
    int32_t zero_point; /* exact: of the output */
    int32_t act_min;
    int32_t act_max;
} td_depthwise_columns_params;

void td_depthwise_columns_w8a8(const td_depthwise_columns_params *restrict p, const int8_t *const *rows,
                               const int8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                               const int8_t **scratch);

void td_depthwise_columns_w8a8_exact(const td_depthwise_columns_params *restrict p, const int8_t *const *rows,
                                     const int8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                                     const int8_t **scratch);

#endif
