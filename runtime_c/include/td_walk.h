/* td_walk.h - the taps of a window that lie inside the input, one after the other. For pooling. */
#ifndef TD_WALK_H
#define TD_WALK_H

#include "td_axes.h"

/* An output position, and the tap that is looked at. */
typedef struct {
    const td_axes *axes;
    int32_t at[3];
    int32_t tap;
    int32_t row;    /* where the tap reads */
    int32_t column; /* where the tap reads */
} td_walk;

/* The next output position of a sample; 0 after the last. */
static inline int32_t td_walk_next(td_walk *restrict w)
{
    for (int32_t i = 2; i >= 0; i--) {
        w->at[i]++;
        if (w->at[i] < w->axes->axis[i].out) {
            return 1;
        }
        w->at[i] = 0;
    }
    return 0;
}

/* Pixel of the next tap inside the input, or -1 after the last one. `tap` is 0 before the first. */
static inline int32_t td_walk_tap(td_walk *restrict w)
{
    const td_axes *const g = w->axes;
    const int32_t taps = td_axes_taps(g);
    while (w->tap < taps) {
        const int32_t k = w->tap++;
        const int32_t line = k / g->axis[2].taps;
        const int32_t plane = td_axis_at(&g->axis[0], w->at[0], line / g->axis[1].taps);
        w->row = td_axis_at(&g->axis[1], w->at[1], line % g->axis[1].taps);
        w->column = td_axis_at(&g->axis[2], w->at[2], k % g->axis[2].taps);
        if (plane >= 0 && w->row >= 0 && w->column >= 0) {
            return (plane * g->axis[1].in + w->row) * g->axis[2].in + w->column;
        }
    }
    return -1;
}

static inline int32_t td_axes_positions(const td_axes *restrict g)
{
    return g->axis[0].in * g->axis[1].in * g->axis[2].in;
}

#endif
