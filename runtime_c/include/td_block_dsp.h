/* td_block_dsp.h - inner blocks of convolutions for cores with the 32-bit SIMD (M4, M7, M33), and their plain C twins.
 *
 * Two pixels by two output channels. Products are made two at a time (SMLAD) from activations widened to 16 bits and
 * weights that stay bytes: a weight word holds two taps of two channels a and b, each half-word being a + 256 * b as a
 * signed sum. SMLAD with the raw word gives S_a + 256 * S_b, with its low bytes widened (SXTB16) S_a; their difference
 * is 256 * S_b. The converter guarantees b >= -127, and that S_a, S_b and the differences
 * of two of them stay below 2^31 and 2^23.
 *
 * windows  taps in groups of four: {x0[k], x0[k+2], x1[k], x1[k+2], x0[k+1], x0[k+3], x1[k+1], x1[k+3]}, int16,
 *          x0 and x1 being the two pixels; td_gather_dsp makes them
 * stream   a pair of channels after the other, uint32:
 *          affine  weights, then the td_affine records of a and b
 *          exact   bias_a, bias_a + 256 * bias_b and both again, weights, then m_a, p_a, m_b, p_b
 *          weights are two words a group of four taps: taps k and k+2, then taps k+1 and k+3
 * affine   y = ((acc * m + c) >> 32) >> 2, acc = S_a, or >> 10 with acc = 256 * S_b; biases, zero points and roundings
 *          are in c; proved by the converter for every sum that can occur
 * exact    TFLite's double rounding: h = SRDHM(acc + bias, m), y = zero_point + round(h / 2^s), p = 2^(32 - s), s >= 2
 *
 * Both saturate to int8. Source: derived here.
 */
#ifndef TD_BLOCK_DSP_H
#define TD_BLOCK_DSP_H

#include "td_requant.h"

typedef struct {
    int32_t window_bytes; /* of both pixels: 16 a group of four taps; affine: at least two groups */
    int32_t distance;     /* from the first pixel's output to the second's; 0: only the first is kept */
    int32_t channels;     /* even, > 0 */
    int32_t zero_point;   /* exact: of the output */
} td_block_dsp;

/* Compute [2 pixels][channels] from windows; returns the end of the stream read. */
const uint32_t *td_block_affine_dsp(const int16_t *windows, const uint32_t *restrict stream, int8_t *out,
                                    const td_block_dsp *restrict p);
const uint32_t *td_block_exact_dsp(const int16_t *windows, const uint32_t *restrict stream, int8_t *out,
                                   const td_block_dsp *restrict p);

/* The affine form of the first pixel only. */
const uint32_t *td_block_affine_one_dsp(const int16_t *windows, const uint32_t *restrict stream, int8_t *out,
                                        const td_block_dsp *restrict p);

#endif
