/* td_scatter.h - updates of a tensor at given indices, one after the other.
 *
 * Each of `updates` (dense, p->slice elements a step) is put into out, or combined with what is there. An index outside
 * leaves its update out. Nothing overlaps. Functions are named after what they do and the element: put by bytes (8
 * bytes are two of 4), add and mul by bits as integers wrap, max and min by type. NaN wins in max and min. Source: ONNX
 * ScatterElements, ScatterND; TFLite SCATTER_ND.
 */
#ifndef TD_SCATTER_H
#define TD_SCATTER_H

#include "td_places.h"

#define TD_SCATTER_DECLARE(name)                                                                                       \
    void td_scatter_##name(const td_places *restrict p, const void *indices, const void *updates, void *out);

TD_SCATTER_DECLARE(put_1)
TD_SCATTER_DECLARE(put_2)
TD_SCATTER_DECLARE(put_4)
TD_SCATTER_DECLARE(add_8)
TD_SCATTER_DECLARE(add_16)
TD_SCATTER_DECLARE(add_32)
TD_SCATTER_DECLARE(add_64)
TD_SCATTER_DECLARE(add_f32)
TD_SCATTER_DECLARE(mul_8)
TD_SCATTER_DECLARE(mul_16)
TD_SCATTER_DECLARE(mul_32)
TD_SCATTER_DECLARE(mul_64)
TD_SCATTER_DECLARE(mul_f32)
TD_SCATTER_DECLARE(max_s8)
TD_SCATTER_DECLARE(max_u8)
TD_SCATTER_DECLARE(max_s16)
TD_SCATTER_DECLARE(max_u16)
TD_SCATTER_DECLARE(max_s32)
TD_SCATTER_DECLARE(max_u32)
TD_SCATTER_DECLARE(max_s64)
TD_SCATTER_DECLARE(max_u64)
TD_SCATTER_DECLARE(max_f32)
TD_SCATTER_DECLARE(min_s8)
TD_SCATTER_DECLARE(min_u8)
TD_SCATTER_DECLARE(min_s16)
TD_SCATTER_DECLARE(min_u16)
TD_SCATTER_DECLARE(min_s32)
TD_SCATTER_DECLARE(min_u32)
TD_SCATTER_DECLARE(min_s64)
TD_SCATTER_DECLARE(min_u64)
TD_SCATTER_DECLARE(min_f32)

#endif
