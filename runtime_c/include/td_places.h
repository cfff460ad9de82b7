/* td_places.h - walks a tensor at places that an array of indices names, for gather and scatter.
 *
 * A walk has up to six axes, from slowest to fastest, of `count` steps each; unused ones have count 1. At each step the
 * place in the tensor is that of the walk plus, for each of `depth` axes, index * step; indices are read one after the
 * other from where the walk stands in them. Counts and steps are elements; `slice` elements lie together at a place.
 */
#ifndef TD_PLACES_H
#define TD_PLACES_H

#include "td_arch.h"

#define TD_PLACES_AXES 6

typedef struct {
    int32_t slice;
    int32_t depth;
    int32_t wide; /* 1: the indices are int64, 0: int32 */
    int32_t size[TD_PLACES_AXES];
    int32_t step[TD_PLACES_AXES];
    int32_t count[TD_PLACES_AXES];
    int32_t data_step[TD_PLACES_AXES];
    int32_t index_step[TD_PLACES_AXES];
} td_places;

typedef struct {
    int32_t position[TD_PLACES_AXES];
    int32_t data;
    int32_t index;
} td_place;

/* Index number `at`; one that is negative counts from the end of `size`. Outside: -1 or `size`. */
static inline int32_t td_index(const void *indices, int32_t wide, int32_t at, int32_t size)
{
    if (wide == 0) {
        const int32_t i = ((const int32_t *)indices)[at];
        const int32_t front = i < 0 ? i + size : i;
        return front < 0 ? -1 : front < size ? front : size;
    }
    const int64_t i = ((const int64_t *)indices)[at];
    const int64_t front = i < 0 ? i + size : i;
    return front < 0 ? -1 : front < size ? (int32_t)front : size;
}

/* Move on; 0 when the walk is over. */
static inline int td_next_place(const td_places *restrict p, td_place *restrict at)
{
    for (int32_t axis = TD_PLACES_AXES - 1; axis >= 0; axis--) {
        at->data += p->data_step[axis];
        at->index += p->index_step[axis];
        at->position[axis]++;
        if (at->position[axis] < p->count[axis]) {
            return 1;
        }
        at->data -= p->count[axis] * p->data_step[axis];
        at->index -= p->count[axis] * p->index_step[axis];
        at->position[axis] = 0;
    }
    return 0;
}

#endif
