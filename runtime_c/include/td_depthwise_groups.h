/* td_depthwise_groups.h - depthwise 2-D convolution, int8, one output row a call, blocks of td_columns.h.
 *
 * y[x][c] = clamp(requant[c](sum over ky, kx of in[ky][x * stride + kx - pad_left][c] * w[c][ky][kx]))
 *
 * rows     kernel_h pointers to input rows [in_width][in_channels] int8; a row of padding is a row of the zero point
 * zeros    in_channels bytes of the zero point, for columns outside a row
 * weights  int8 [in_channels][kernel_h][groups][3], groups = ceil(kernel_w / 3), missing taps are zeros
 * requant  one record a channel, td_columns.h
 * out      [out_width][in_channels] int8; may lie over input no longer needed, block by block
 * scratch  kernel_h * groups * ((block - 1) * stride + 3) pointers
 *
 * stride is 1 or 2, dilation 1, multiplier 1. Source: TFLite DEPTHWISE_CONV_2D int8.
 */
#ifndef TD_DEPTHWISE_GROUPS_H
#define TD_DEPTHWISE_GROUPS_H

#include "td_columns.h"
#include "td_window.h"

typedef struct {
    td_window window;
    const int8_t *zeros;
    int32_t groups;
    int32_t block; /* pixels made at once, 1..TD_COLUMNS_PIXELS; the last block of a row may have fewer */
    int32_t out_width;
    int32_t zero_point; /* exact: of the output */
    int32_t act_min;
    int32_t act_max;
} td_depthwise_groups_params;

void td_depthwise_groups_s1_w8a8(const td_depthwise_groups_params *restrict p, const int8_t *const *rows,
                                 const int8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                                 const int8_t **scratch);
void td_depthwise_groups_s1_w8a8_exact(const td_depthwise_groups_params *restrict p, const int8_t *const *rows,
                                       const int8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                                       const int8_t **scratch);
void td_depthwise_groups_s2_w8a8(const td_depthwise_groups_params *restrict p, const int8_t *const *rows,
                                 const int8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                                 const int8_t **scratch);
void td_depthwise_groups_s2_w8a8_exact(const td_depthwise_groups_params *restrict p, const int8_t *const *rows,
                                       const int8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                                       const int8_t **scratch);

#endif
