/* td_window.h - the taps of one output position, copied into a vector. Shared by the convolution kernels. */
#ifndef TD_WINDOW_H
#define TD_WINDOW_H

#include "td_arch.h"

/* Horizontal geometry of a window over input rows [in_width][in_channels]. Vertical placement is the caller's: it
 * hands over one pointer a kernel row. */
typedef struct {
    int32_t in_width;
    int32_t in_channels;
    int32_t kernel_h;
    int32_t kernel_w;
    int32_t stride;
    int32_t dilation;
    int32_t pad_left;
    int32_t zero_point; /* stands for 0 outside a row */
} td_window;

static inline void td_copy_row(int8_t *to, const int8_t *from, int32_t size)
{
    for (int32_t i = 0; i < size; i++) {
        to[i] = from[i];
    }
}

static inline void td_fill(int8_t *to, int32_t value, int32_t size)
{
    for (int32_t i = 0; i < size; i++) {
        to[i] = (int8_t)value;
    }
}

/* Write the window of output column x as [kernel_h][kernel_w][channels] to `to`, channels first..first+channels-1. */
static inline void td_window_gather(const td_window *restrict w, const int8_t *const *rows, int32_t x, int32_t first,
                                    int32_t channels, int8_t *to)
{
    const int32_t left = x * w->stride - w->pad_left;
    for (int32_t ky = 0; ky < w->kernel_h; ky++) {
        int32_t column = left;
        for (int32_t kx = 0; kx < w->kernel_w; kx++) {
            if (column < 0 || column >= w->in_width) {
                td_fill(to, w->zero_point, channels);
            } else {
                td_copy_row(to, rows[ky] + column * w->in_channels + first, channels);
            }
            to += channels;
            column += w->dilation;
        }
    }
}

#endif
