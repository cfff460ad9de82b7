/* td_fully_connected.h - matrix times vector, int8 in and out, one vector a call.
 *
 * y[o] = clamp(requant[o](sum over k of in[k] * w[o][k]))
 *
 * in       [inputs] int8, must not overlap out
 * weights  int8, four outputs together: [ceil(outputs / 4)][inputs][4], missing outputs are zeros
 * requant  one record an output, td_requant.h
 * out      [outputs] int8
 *
 * Sums are int32: inputs <= 2^16. Rounded once; `_wide` where one shift for all outputs is not enough.
 * Source: TFLite FULLY_CONNECTED int8 (LiteRT 2).
 */
#ifndef TD_FULLY_CONNECTED_H
#define TD_FULLY_CONNECTED_H

#include "td_requant.h"

typedef struct {
    int32_t inputs;
    int32_t outputs;
    int32_t shift; /* affine: common shift to the right */
    int32_t act_min;
    int32_t act_max;
} td_fully_connected_params;

void td_fully_connected_w8a8(const td_fully_connected_params *restrict p, const int8_t *in,
                             const int8_t *restrict weights, const td_affine *restrict requant, int8_t *out);

void td_fully_connected_w8a8_wide(const td_fully_connected_params *restrict p, const int8_t *in,
                                  const int8_t *restrict weights, const td_wide *restrict requant, int8_t *out);

#endif
