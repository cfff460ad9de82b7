/* td_max_pool2d_s8.c - plain C: any window. */
#include "td_max_pool2d.h"

#include "td_requant.h"

void td_max_pool2d_s8(const td_max_pool2d_params *restrict p, const int8_t *const *rows, int8_t *out)
{
    const td_window *const w = &p->window;
    const int32_t channels = w->in_channels;
    int32_t left = -w->pad_left;
    for (int32_t x = 0; x < p->out_width; x++) {
        for (int32_t c = 0; c < channels; c++) {
            int32_t best = -128;
            for (int32_t ky = 0; ky < w->kernel_h; ky++) {
                const int8_t *const row = rows[ky] + c;
                int32_t column = left;
                for (int32_t kx = 0; kx < w->kernel_w; kx++) {
                    if (column >= 0 && column < w->in_width) {
                        const int32_t value = row[column * channels];
                        best = value > best ? value : best;
                    }
                    column += w->dilation;
                }
            }
            *out++ = (int8_t)td_clamp(best, p->act_min, p->act_max);
        }
        left += w->stride;
    }
}
