/* td_conv2d_dsp.h - 2-D convolution for cores with the 32-bit SIMD, int8 in and out, one output row a call.
 *
 * y[x][o] = clamp(requant[o](sum over ky, kx, c of in[ky][x * stride + kx * dilation - pad_left][c] * w[o][ky][kx][c]))
 *
 * rows     kernel_h pointers to input rows [in_width][in_channels] int8
 * stream   weights and requantisation by pairs of channels, see td_block_dsp.h; an odd last channel is paired with
 *          zeros. Taps: of every kernel row the first multiple of four of its [kernel_w][in_channels] values, then
 *          what is left of all kernel rows, then zeros up to a multiple of four and at least eight
 * pad      [kernel_w][in_channels] of the zero point. A row of padding is this pointer in `rows`; may be NULL where
 *          nothing is padded
 * out      [out_width][out_channels] int8; may lie over input that is no longer needed, two pixels at a time
 * scratch  aligned to 16: int16 windows of two pixels (4 bytes a tap); where columns are padded or dilated, two
 * pointers a kernel row; and where in_channels is no multiple of four then, 2 * kernel_h * kernel_w * in_channels bytes
 *
 * Source: TFLite CONV_2D int8; technique derived here.
 */
#ifndef TD_CONV2D_DSP_H
#define TD_CONV2D_DSP_H

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
    int32_t zero_point; /* exact: of the output */
    int32_t act_min;
    int32_t act_max;
} td_conv2d_dsp_params;

void td_conv2d_w8a8_dsp(const td_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                        const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out, int16_t *scratch);

/* Faster where out_width is odd, for more code. */
void td_conv2d_w8a8_dsp_odd(const td_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                            const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out, int16_t *scratch);

void td_conv2d_w8a8_dsp_exact(const td_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                              const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                              int16_t *scratch);

#endif
