/* td_gather.h - slices of a tensor at given indices, one after the other into a dense output.
 *
 * _1, _2, _4: bytes of an element; elements of 8 bytes are two of 4. An index outside is taken as the nearest inside.
 * in, indices and out do not overlap. Source: TFLite GATHER, GATHER_ND; ONNX Gather, GatherND, GatherElements.
 */
#ifndef TD_GATHER_H
#define TD_GATHER_H

#include "td_places.h"

void td_gather_1(const td_places *restrict p, const void *in, const void *indices, void *out);

void td_gather_2(const td_places *restrict p, const void *in, const void *indices, void *out);

void td_gather_4(const td_places *restrict p, const void *in, const void *indices, void *out);

#endif
