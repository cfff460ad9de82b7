/* td_conv2d_trio.h - 2-D convolution, int8, one output row a call, three pixels by two multiplications (td_trio.h).
 *
 * y[x][o] = clamp(requant[o](sum over ky, kx, c of in[ky][x * stride + kx * dilation - pad_left][c] * w[o][ky][kx][c]))
 *
 * rows     kernel_h pointers to input rows [in_width][in_channels] int8; a row of padding is a row of the zero point
 * weights  uint8 w + 128, [out_channels][kernel_h][kernel_w][in_channels / groups]
 * requant  one record an output channel, td_requant.h
 * out      [out_width][out_channels] int8; may lie over input that is no longer needed, six pixels at a time (the last
 *          block may read columns before those it needs, and does nothing with them)
 * scratch  aligned to 4: the windows, 4 words a tap and 4 a window (2 and 2 where a row has three pixels or less);
 * then, where a block reaches over the end of a row, as many columns of in_channels / groups as it sees
 *
 * The name tells the rounding (td_trio.h); all but the last two take all taps in one window.
 * Source: TFLite CONV_2D int8.
 */
#ifndef TD_CONV2D_TRIO_H
#define TD_CONV2D_TRIO_H

#include "td_trio.h"
#include "td_window.h"

typedef struct {
    td_window window;
    int32_t out_width;
    int32_t out_channels;
    int32_t groups;
    int32_t together; /* taps of a window, td_trio.h; the last one has what is left */
    int32_t stage;    /* words from the start of scratch to the columns */
    int32_t constant; /* td_trio.h */
    int32_t part;     /* td_trio.h */
    int32_t act_min;
    int32_t act_max;
} td_conv2d_trio_params;

void td_conv2d_trio_w8a8(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                         const uint8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                         uint32_t *scratch);

void td_conv2d_trio_w8a8_short(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                               const uint8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                               uint32_t *scratch);

void td_conv2d_trio_w8a8_exact(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                               const uint8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                               uint32_t *scratch);

void td_conv2d_trio_w8a8_windows(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                                 const uint8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                                 uint32_t *scratch);

void td_conv2d_trio_w8a8_exact_windows(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                                       const uint8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                                       uint32_t *scratch);

#endif
