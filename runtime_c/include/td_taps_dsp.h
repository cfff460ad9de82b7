/* td_taps_dsp.h - one pixel of a depthwise convolution with any window, for cores with the 32-bit SIMD.
 *
 * Four channels together, products two taps at a time (SMLAD).
 *
 * stream   by four channels; taps in pairs, an odd number of taps begins with a single one:
 *          affine  weights, then four td_affine records: y = ((acc * m + c) >> 32) >> 2
 *          exact   four biases, weights, then m, p of four channels (see td_block_dsp.h)
 *          weights are int16: of a single tap two words {w0, w2}, {w1, w3}, of a pair a word {first, second} a channel
 */
#ifndef TD_TAPS_DSP_H
#define TD_TAPS_DSP_H

#include "td_requant.h"

typedef struct {
    int32_t taps;       /* > 0 */
    int32_t channels;   /* a multiple of four, > 0 */
    int32_t zero_point; /* exact: of the output */
    int32_t offset;     /* added to every pointer */
} td_taps_dsp;

/* One pixel of `channels` from pointers to the taps' pixels; returns the end of the stream read. */
const uint32_t *td_taps_affine_dsp(const int8_t *const *taps, const uint32_t *restrict stream, int8_t *out,
                                   const td_taps_dsp *restrict p);
const uint32_t *td_taps_exact_dsp(const int8_t *const *taps, const uint32_t *restrict stream, int8_t *out,
                                  const td_taps_dsp *restrict p);

#endif
