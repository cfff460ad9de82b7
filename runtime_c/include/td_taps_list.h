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

/* Where the taps of a row's pixels are, so that a list serves many pixels. */
typedef struct {
    const int8_t **taps;
    int32_t count;
    int32_t from;   /* output column the list was made for, -1: none */
    int32_t offset; /* elements to add to every pointer */
} td_taps_list;

/* True if a window at column `left` lies in the row. */
static inline int td_taps_inside(const td_taps_window *restrict w, int32_t left)
{
    return left >= 0 && left + (w->kernel_w - 1) * w->dilation < w->in_width;
}

/* True if one of the rows is padding. */
static inline int td_taps_padded(const td_taps_window *restrict w, const int8_t *const *rows, const int8_t *pad)
{
    int padded = 0;
    for (int32_t ky = 0; ky < w->kernel_h; ky++) {
        padded |= rows[ky] == pad;
    }
    return padded;
}

/* Point to the taps of output column x in the order [ky][kx]. A row that is `pad`, and every pixel outside a row, is
 * the pixel `pad`; where there is none of these (`padded` is false), the next such column only moves the offset. */
static inline void td_list_taps(const td_taps_window *restrict w, const int8_t *const *rows, const int8_t *restrict pad,
                                int padded, int32_t x, td_taps_list *list)
{
    const int32_t left = x * w->stride - w->pad_left;
    const int inside = td_taps_inside(w, left);
    const int32_t step = w->dilation * w->channels;
    const int8_t **to = list->taps;
    list->offset = 0;
    if (inside && !padded && list->from >= 0) {
        list->offset = (x - list->from) * w->stride * w->channels;
        return;
    }
    list->from = inside && !padded ? x : -1;
    for (int32_t ky = 0; ky < w->kernel_h; ky++) {
        const int8_t *const row = rows[ky];
        int32_t column = left;
        int32_t at = left * w->channels;
        for (int32_t kx = 0; kx < w->kernel_w; kx++) {
            *to++ = row != pad && (inside || (column >= 0 && column < w->in_width)) ? row + at : pad;
            column += w->dilation;
            at += step;
        }
    }
    list->count = (int32_t)(to - list->taps);
}

#endif
