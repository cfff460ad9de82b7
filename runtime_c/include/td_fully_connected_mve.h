/* td_fully_connected_mve.h - matrix times vector for the vector extension, int8 in and out, one vector a call.
 *
 * y[o] = clamp(((sum over k of in[k] * w[o][k]) * m[o] + c[o]) >> 32), proved equal to TFLite's rounding
 *
 * stream   by eight outputs, missing ones being zeros: weights int8 [inputs / 16][8 outputs][16], missing inputs being
 *          zeros, then eight td_affine records (td_requant.h) with a shift of 0
 * in       [inputs] int8. A multiple of 16 is read where it lies, until the last output is written; otherwise it is
 *          copied first
 * out      [outputs] int8
 * scratch  inputs rounded up to 16 bytes, NULL where inputs are a multiple of 16
 *
 * Source: TFLite FULLY_CONNECTED int8; technique derived here.
 */
#ifndef TD_FULLY_CONNECTED_MVE_H
#define TD_FULLY_CONNECTED_MVE_H

#include "td_arch.h"

typedef struct {
    int32_t inputs;
    int32_t outputs;
    int32_t act_min;
    int32_t act_max;
} td_fully_connected_mve_params;

void td_fully_connected_w8a8_mve(const td_fully_connected_mve_params *restrict p, const int8_t *in,
                                 const uint32_t *restrict stream, int8_t *out, int8_t *scratch);

#endif
