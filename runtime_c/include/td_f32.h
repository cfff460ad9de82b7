/* td_f32.h - small helpers of the float kernels. */
#ifndef TD_F32_H
#define TD_F32_H

#include "td_arch.h"

/* Limits x; NaN stays. The second bound wins where they cross. */
static inline float td_clamp_f32(float x, float low, float high)
{
    x = x < low ? low : x;
    return x > high ? high : x;
}

#endif
