/* td_one_hot.h - a new axis that marks the position an index names.
 *
 * _1, _2, _4, _8: bytes of an element. indices [outer][inner] int32 or int64, values {off, on}, out
 * [outer][depth][inner]; nothing overlaps. An index outside the depth marks nothing.
 * Source: ONNX OneHot; TFLite ONE_HOT.
 */
#ifndef TD_ONE_HOT_H
#define TD_ONE_HOT_H

#include "td_places.h"

typedef struct {
    int32_t outer;
    int32_t depth;
    int32_t inner;
    int32_t wide;     /* 1: the indices are int64, 0: int32 */
    int32_t from_end; /* 1: a negative index counts from the end, 0: it marks nothing */
} td_one_hot_params;

void td_one_hot_1(const td_one_hot_params *restrict p, const void *indices, const void *values, void *out);

void td_one_hot_2(const td_one_hot_params *restrict p, const void *indices, const void *values, void *out);

void td_one_hot_4(const td_one_hot_params *restrict p, const void *indices, const void *values, void *out);

void td_one_hot_8(const td_one_hot_params *restrict p, const void *indices, const void *values, void *out);

#endif
