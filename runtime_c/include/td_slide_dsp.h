/* td_slide_dsp.h - depthwise 3x3 windows that slide along a row, for cores with the 32-bit SIMD.
 *
 * A column of three pixels is unpacked once and kept for the three windows it is in. Four channels together; the upper
 * two taps of a column are one product of two (SMLAD).
 *
 * stream   by four channels: of each kernel column a word {upper, middle} a channel and two words of the lower tap {0,
 * 2}, {1, 3}, all int16; then four td_affine records: y = ((acc * m + c) >> 32) >> 2
 */
#ifndef TD_SLIDE_DSP_H
#define TD_SLIDE_DSP_H

#include "td_requant.h"

typedef struct {
    int32_t channels; /* a multiple of four, > 0 */
    int16_t *old;     /* columns of the window, 6 bytes a channel each, aligned to 4: the left one, */
    int16_t *middle;  /* and the middle one */
} td_slide_dsp;

/* Keep a column, given by its three pixels. */
void td_slide_column_dsp(const int8_t *const *column, int16_t *to, int32_t channels);

/* One pixel from the two columns kept and the right one, given by its pixels; the right one is kept in place of the
 * left one. */
void td_slide_pixel_dsp(const int8_t *const *column, const uint32_t *restrict stream, int8_t *out,
                        const td_slide_dsp *restrict p);

#endif
