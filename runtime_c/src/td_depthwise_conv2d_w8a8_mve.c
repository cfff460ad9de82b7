/* td_depthwise_conv2d_w8a8_mve.c - rows of a depthwise convolution, a pixel at a time by td_taps_mve.h. */
#include "td_depthwise_conv2d_mve.h"

#include "td_taps_mve.h"

void td_depthwise_conv2d_w8a8_mve(const td_depthwise_conv2d_mve_params *restrict p, const int8_t *const *rows,
                                  const int32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                                  const int8_t **scratch)
{
    const int32_t channels = p->window.channels;
    const int padded = td_taps_padded(&p->window, rows, pad);
    td_taps_list list = {scratch, 0, -1, 0};
    td_taps_mve pixel = {0, channels, p->zero_point, 0};
    for (int32_t x = 0; x < p->out_width; x++) {
        td_list_taps(&p->window, rows, pad, padded, x, &list);
        pixel.taps = list.count;
        pixel.offset = list.offset;
        td_taps_exact_mve(scratch, stream, out, &pixel);
        if (p->act_min > -128 || p->act_max < 127) {
            for (int32_t c = 0; c < channels; c++) {
                out[c] = (int8_t)td_clamp(out[c], p->act_min, p->act_max);
            }
        }
        out += channels;
    }
}
