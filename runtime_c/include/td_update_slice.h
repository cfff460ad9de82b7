/* td_update_slice.h - puts a block into a tensor at a place that is computed.
 *
 * out holds the tensor already. `p`: depth is the number of axes, size how many places the block has along each, step
 * their distance; the walk goes over the rows of the block, p->slice elements each. A start outside is moved inside.
 * _1, _2, _4: bytes of an element; elements of 8 bytes are two of 4. Nothing overlaps. Source: TFLite
 * DYNAMIC_UPDATE_SLICE.
 */
#ifndef TD_UPDATE_SLICE_H
#define TD_UPDATE_SLICE_H

#include "td_places.h"

void td_update_slice_1(const td_places *restrict p, const void *update, const void *start, void *out);

void td_update_slice_2(const td_places *restrict p, const void *update, const void *start, void *out);

void td_update_slice_4(const td_places *restrict p, const void *update, const void *start, void *out);

#endif
