/* td_taps_list.h - pointers to the pixels under a window, for the depthwise kernels that take any window. */
#ifndef TD_TAPS_LIST_H
#define TD_TAPS_LIST_H

#include "td_arch.h"

typedef struct {
    int32_t in_width;
    int32_t channels;
    int32_t kernel_h;
    int32_t kernel_w;
    int32_t stride;
    int32_t dilation;
    int32_t pad_left;
} td_taps_window;

/* List the taps of output column x in the order [ky][kx]; returns their number. A row that is `pad`, and every pixel
 * outside a row, is the pixel `pad`. */
static inline int32_t td_list_taps(const td_taps_window *restrict w, const int8_t *const *rows,
                                   const int8_t *restrict pad, int32_t x, const int8_t **taps)
{
    const int32_t left = x * w->stride - w->pad_left;
    const int inside = left >= 0 && left + (w->kernel_w - 1) * w->dilation < w->in_width;
    const int32_t step = w->dilation * w->channels;
    int32_t n = 0;
    for (int32_t ky = 0; ky < w->kernel_h; ky++) {
        const int8_t *const row = rows[ky];
        int32_t column = left;
        int32_t at = left * w->channels;
        for (int32_t kx = 0; kx < w->kernel_w; kx++) {
            taps[n++] = row != pad && (inside || (column >= 0 && column < w->in_width)) ? row + at : pad;
            column += w->dilation;
            at += step;
        }
    }
    return n;
}

#endif
