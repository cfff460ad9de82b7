/* td_axes.h - windows over up to three axes, forwards or transposed, for the kernels that take any batch and type. */
#ifndef TD_AXES_H
#define TD_AXES_H

#include "td_arch.h"

/* Tap k of output o reads input (o * step + k * tap + first) / divisor, if that is whole and inside 0..in - 1. */
typedef struct {
    int32_t in;
    int32_t out;
    int32_t taps;
    int32_t step;
    int32_t tap;
    int32_t first;
    int32_t divisor;
} td_axis;

typedef struct {
    td_axis axis[3]; /* depth, height, width */
    int32_t batch;
    int32_t in_channels;
    int32_t out_channels;
    int32_t groups;
    int32_t merged; /* 1: neighbouring taps along the width lie side by side in input and weights */
} td_axes;

/* The input position, or -1. */
static inline int32_t td_axis_at(const td_axis *restrict a, int32_t o, int32_t k)
{
    int32_t at = o * a->step + k * a->tap + a->first;
    if (a->divisor != 1) {
        const int32_t whole = at / a->divisor;
        at = at >= 0 && whole * a->divisor == at ? whole : -1;
    }
    return at < a->in ? at : -1;
}

static inline int32_t td_axes_taps(const td_axes *restrict g)
{
    return g->axis[0].taps * g->axis[1].taps * g->axis[2].taps;
}

#endif
