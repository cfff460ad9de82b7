/* td_gates.h - what the recurrent kernels share: a gate's sum, its clip and its activation. */
#ifndef TD_GATES_H
#define TD_GATES_H

#include "td_recurrent.h"

/* sum + the products of x and w, one after the other. */
TD_INLINE float td_gate_sum(float sum, const float *x, const float *w, int32_t size)
{
    for (int32_t k = 0; k < size; k++) {
        sum += x[k] * w[k];
    }
    return sum;
}

/* x within -clip .. clip; no limit if clip is 0. */
TD_INLINE float td_clip(float x, float clip)
{
    if (clip > 0.0F) {
        x = x > clip ? clip : x;
        x = x < -clip ? -clip : x;
    }
    return x;
}

TD_INLINE float td_gate(const td_activation *restrict a, float x, float clip)
{
    return a->apply(td_clip(x, clip), a->alpha, a->beta);
}

#endif
