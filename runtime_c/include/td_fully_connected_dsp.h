/* td_fully_connected_dsp.h - matrix times vector for cores with the 32-bit SIMD, int8 in and out, one vector a call.
 *
 * y[o] = clamp(requant[o](sum over k of in[k] * w[o][k]))
 *
 * Four outputs at a time; weights stay bytes and are used as raw words, see td_block_dsp.h. The converter guarantees
 * weights >= -127 in every second output and sums below 2^23 in magnitude.
 *
 * stream   by four outputs a b c d, missing ones being zeros; inputs in eights, missing ones being zeros:
 *          affine  weights, then the td_affine records of a, b, c, d: y = (acc * m + c) >> 32, or >> 40 for b and d,
 *                  whose sums arrive times 256
 *          exact   bias_a, bias_a + 256 * bias_b, bias_c, bias_c + 256 * bias_d, weights, then m, p of a, b, c, d
 *          weights of eight inputs are four words of a and b, then four of c and d: taps 0 and 2, 1 and 3, 4 and 6,
 *          5 and 7
 * in       [inputs] int8, all read before the first output is written: may overlap out in any way
 * out      [outputs] int8
 * scratch  inputs rounded up to eight, int16, aligned to 4
 *
 * Source: TFLite FULLY_CONNECTED int8; technique derived here.
 */
#ifndef TD_FULLY_CONNECTED_DSP_H
#define TD_FULLY_CONNECTED_DSP_H

#include "td_arch.h"

typedef struct {
    int32_t inputs;
    int32_t outputs;
    int32_t zero_point; /* exact: of the output */
    int32_t act_min;
    int32_t act_max;
} td_fully_connected_dsp_params;

void td_fully_connected_w8a8_dsp(const td_fully_connected_dsp_params *restrict p, const int8_t *in,
                                 const uint32_t *restrict stream, int8_t *out, int16_t *scratch);

void td_fully_connected_w8a8_dsp_exact(const td_fully_connected_dsp_params *restrict p, const int8_t *in,
                                       const uint32_t *restrict stream, int8_t *out, int16_t *scratch);

/* The affine form without scratch: inputs a multiple of eight, read where they lie until the last output is written. */
void td_fully_connected_w8a8_dsp_direct(const td_fully_connected_dsp_params *restrict p, const int8_t *in,
                                        const uint32_t *restrict stream, int8_t *out);

#endif
