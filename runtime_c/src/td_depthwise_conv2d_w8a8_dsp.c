/* td_depthwise_conv2d_w8a8_dsp.c - rows of a depthwise convolution, a pixel at a time by td_taps_dsp.h. */
#include "td_depthwise_conv2d_dsp.h"

#include "td_taps_dsp.h"

TD_INLINE void td_depthwise_dsp_row(const td_depthwise_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                                    const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                                    const int8_t **taps, int exact)
{
    const int32_t channels = p->window.channels;
    const int32_t rest = channels % 4;
    const int padded = td_taps_padded(&p->window, rows, pad);
    td_taps_list list = {taps, 0, -1, 0};
    td_taps_dsp block = {0, 0, p->zero_point, 0};
    for (int32_t x = 0; x < p->out_width; x++) {
        const uint32_t *four = stream;
        td_list_taps(&p->window, rows, pad, padded, x, &list);
        block.taps = list.count;
        block.channels = channels - rest;
        block.offset = list.offset;
        if (block.channels > 0) {
            four = exact ? td_taps_exact_dsp(taps, four, out, &block) : td_taps_affine_dsp(taps, four, out, &block);
        }
        if (rest != 0) {
            int8_t last[4];
            int8_t *copy = (int8_t *)(taps + list.count);
            for (int32_t i = 0; i < list.count; i++) {
                for (int32_t j = 0; j < 4; j++) {
                    copy[j] = j < rest ? taps[i][list.offset + block.channels + j] : 0;
                }
                taps[i] = copy;
                copy += 4;
            }
            int8_t *const to = out + block.channels;
            list.from = -1;
            block.channels = 4;
            block.offset = 0;
            if (exact) {
                td_taps_exact_dsp(taps, four, last, &block);
            } else {
                td_taps_affine_dsp(taps, four, last, &block);
            }
            for (int32_t j = 0; j < rest; j++) {
                to[j] = last[j];
            }
        }
        if (p->act_min > -128 || p->act_max < 127) {
            for (int32_t c = 0; c < channels; c++) {
                out[c] = (int8_t)td_clamp(out[c], p->act_min, p->act_max);
            }
        }
        out += channels;
    }
}

void td_depthwise_conv2d_w8a8_dsp(const td_depthwise_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                                  const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                                  const int8_t **scratch)
{
    td_depthwise_dsp_row(p, rows, stream, pad, out, scratch, 0);
}

void td_depthwise_conv2d_w8a8_dsp_exact(const td_depthwise_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                                        const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                                        const int8_t **scratch)
{
    td_depthwise_dsp_row(p, rows, stream, pad, out, scratch, 1);
}
