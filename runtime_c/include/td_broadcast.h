/* td_broadcast.h - walks two operands and a result over a common shape, for element-wise operators. */
#ifndef TD_BROADCAST_H
#define TD_BROADCAST_H

#include "td_arch.h"

#define TD_BROADCAST_OUTER 5

/* The result is dense. An operand moves by its step (0 or more elements) along an axis; `inner` is the last axis, whose
 * steps are 0 or 1, the outer axes stand from slowest to fastest and have size 1 where there are fewer. */
typedef struct {
    int32_t inner;
    int32_t a_inner_step;
    int32_t b_inner_step;
    int32_t size[TD_BROADCAST_OUTER];
    int32_t a_step[TD_BROADCAST_OUTER];
    int32_t b_step[TD_BROADCAST_OUTER];
} td_broadcast;

typedef struct {
    int32_t index[TD_BROADCAST_OUTER];
    int32_t a; /* elements from the start of an operand */
    int32_t b;
} td_position;

/* Move to the next run of inner elements; 0 when there is none. */
static inline int td_broadcast_next(const td_broadcast *restrict s, td_position *at)
{
    for (int32_t i = TD_BROADCAST_OUTER - 1; i >= 0; i--) {
        at->a += s->a_step[i];
        at->b += s->b_step[i];
        at->index[i]++;
        if (at->index[i] < s->size[i]) {
            return 1;
        }
        at->a -= s->size[i] * s->a_step[i];
        at->b -= s->size[i] * s->b_step[i];
        at->index[i] = 0;
    }
    return 0;
}

#endif
