/* td_fully_connected_sextets.h - matrix times vector, int8, six outputs together (td_sextets.h), one vector a call.
 *
 * y[o] = clamp(requant[o](sum over k of in[k] * w[o][k]))
 *
 * in       [inputs] int8, must not overlap out
 * weights  by six outputs, by stretch of `together` taps: words as in td_sextets.h; missing outputs are zeros
 * requant  one record an output
 * out      [outputs] int8
 * scratch  inputs bytes
 *
 * 2.7 bytes a weight. Source: TFLite FULLY_CONNECTED int8 (LiteRT 2).
 */
#ifndef TD_FULLY_CONNECTED_SEXTETS_H
#define TD_FULLY_CONNECTED_SEXTETS_H

#include "td_sextets.h"

typedef struct {
    int32_t inputs;
    int32_t outputs;
    int32_t together; /* taps summed up at once */
    int32_t shift;    /* td_sextets.h */
    int32_t act_min;
    int32_t act_max;
} td_fully_connected_sextets_params;

void td_fully_connected_sextets_w8a8(const td_fully_connected_sextets_params *restrict p, const int8_t *in,
                                     const uint32_t *restrict weights, const td_parts *restrict requant, int8_t *out,
                                     uint8_t *scratch);

#endif
