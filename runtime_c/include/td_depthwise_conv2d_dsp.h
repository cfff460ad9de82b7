/* td_depthwise_conv2d_dsp.h - depthwise convolution for cores with the 32-bit SIMD, int8 in and out, one row a call.
 *
 * y[x][c] = clamp(requant(sum over ky, kx of in[ky][x * stride + kx * dilation - pad_left][c] * w[c][ky][kx]))
 *
 * Any window. A pixel at a time, four channels together, products two taps at a time (SMLAD).
 *
 * rows     kernel_h pointers to input rows [in_width][channels] int8
 * stream   weights and requantisation, see td_taps_dsp.h; channels missing from the last four are zeros
 * pad      [channels] of the zero point. A row of padding is this pointer in `rows`; may be NULL where nothing is
 *          padded
 * out      [out_width][channels] int8; may lie over input that is no longer needed, one pixel at a time, reads and
 *          writes of a pixel being mixed
 * scratch  a pointer a tap, and where channels is no multiple of four as many words. Aligned to a pointer
 *
 * Source: TFLite DEPTHWISE_CONV_2D int8; technique derived here.
 */
#ifndef TD_DEPTHWISE_CONV2D_DSP_H
#define TD_DEPTHWISE_CONV2D_DSP_H

#include "td_taps_list.h"

typedef struct {
    td_taps_window window;
    int32_t out_width;
    int32_t zero_point; /* exact: of the output */
    int32_t act_min;
    int32_t act_max;
} td_depthwise_conv2d_dsp_params;

void td_depthwise_conv2d_w8a8_dsp(const td_depthwise_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                                  const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                                  const int8_t **scratch);

void td_depthwise_conv2d_w8a8_dsp_exact(const td_depthwise_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                                        const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                                        const int8_t **scratch);

/* Windows of 3x3 with a stride and dilation of 1, a multiple of four channels, the affine form; stream as in
 * td_slide_dsp.h, scratch 12 bytes a channel, aligned to 4. */
void td_depthwise_3x3_w8a8_dsp(const td_depthwise_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                               const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                               int16_t *scratch);

#endif
