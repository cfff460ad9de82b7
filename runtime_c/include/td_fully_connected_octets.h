/* td_fully_connected_octets.h - matrix times vector, int8, eight outputs together (td_octets.h), one vector a call.
 *
 * y[o] = clamp(requant[o](sum over k of in[k] * w[o][k]))
 *
 * in       [inputs] int8, must not overlap out
 * weights  words [ceil(outputs / 8)][inputs][2], missing outputs are zeros
 * requant  one record an output, td_requant.h
 * out      [outputs] int8
 *
 * Source: TFLite FULLY_CONNECTED int8 (LiteRT 2).
 */
#ifndef TD_FULLY_CONNECTED_OCTETS_H
#define TD_FULLY_CONNECTED_OCTETS_H

#include "td_requant.h"

typedef struct {
    int32_t inputs;
    int32_t outputs;
    int32_t shift; /* common shift to the right */
    int32_t act_min;
    int32_t act_max;
} td_fully_connected_octets_params;

void td_fully_connected_octets_w8a8(const td_fully_connected_octets_params *restrict p, const int8_t *in,
                                    const uint32_t *restrict weights, const td_affine *restrict requant, int8_t *out);

#endif
