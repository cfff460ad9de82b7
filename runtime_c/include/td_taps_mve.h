/* td_taps_mve.h - one pixel of a depthwise convolution with any window, for the vector extension.
 *
 * Eight channels together; products of two taps are added in 16 bits (weights >= -127), then in 32.
 *
 * stream   by eight channels, missing ones being zeros: biases of the even channels and of the odd ones, int32 [2][4];
 *          weights int8 [taps][8]; multipliers [2][4], shifts [2][4] of TFLite's double rounding (td_requant.h),
 *          shifts <= -1
 */
#ifndef TD_TAPS_MVE_H
#define TD_TAPS_MVE_H

#include "td_requant.h"

typedef struct {
    int32_t taps;     /* > 0 */
    int32_t channels; /* even, > 0 */
    int32_t zero_point;
    int32_t offset; /* added to every pointer */
} td_taps_mve;

/* One pixel of `channels` from pointers to the taps' pixels. */
void td_taps_exact_mve(const int8_t *const *taps, const int32_t *restrict stream, int8_t *out,
                       const td_taps_mve *restrict p);

#endif
