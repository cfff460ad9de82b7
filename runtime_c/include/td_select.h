/* td_select.h - one of two values for each element, with broadcasting: out = condition ? a : b.
 *
 * td_select_<bits>: elements of any type of so many bits. condition is uint8_t, 0 or not.
 * Operands may be read again and again (td_broadcast.h); out is dense, and may lie over them as far as the converter's
 * access plan says.
 * Source: ONNX Where, TFLite SELECT_V2.
 */
#ifndef TD_SELECT_H
#define TD_SELECT_H

#include "td_broadcast.h"

typedef struct {
    td_broadcast shape;   /* of condition (its a) and a (its b) */
    int32_t c_inner_step; /* of b */
    int32_t c_step[TD_BROADCAST_OUTER];
} td_select_params;

#define TD_SELECT(bits)                                                                                                \
    void td_select_##bits(const td_select_params *restrict p, const uint8_t *condition, const void *a, const void *b,  \
                          void *out)

TD_SELECT(8);
TD_SELECT(16);
TD_SELECT(32);
TD_SELECT(64);

#endif
