/* td_top_k.h - the best k elements along the middle axis of [outer][count][inner], best first, and their places.
 *
 * values and places are [outer][k][inner]; places are int32, or int64 if p->wide. Of equal elements the first comes
 * first, NaN comes last. Nothing overlaps. Source: ONNX TopK; TFLite TOPK_V2.
 */
#ifndef TD_TOP_K_H
#define TD_TOP_K_H

#include "td_arch.h"

typedef struct {
    int32_t outer;
    int32_t count;
    int32_t inner;
    int32_t k;
    int32_t wide; /* 1: places are int64, 0: int32 */
} td_top_k_params;

#define TD_TOP_K_DECLARE(name)                                                                                         \
    void td_top_##name(const td_top_k_params *restrict p, const void *in, void *values, void *places);

TD_TOP_K_DECLARE(largest_s8)
TD_TOP_K_DECLARE(largest_u8)
TD_TOP_K_DECLARE(largest_s16)
TD_TOP_K_DECLARE(largest_u16)
TD_TOP_K_DECLARE(largest_s32)
TD_TOP_K_DECLARE(largest_u32)
TD_TOP_K_DECLARE(largest_s64)
TD_TOP_K_DECLARE(largest_u64)
TD_TOP_K_DECLARE(largest_f32)
TD_TOP_K_DECLARE(smallest_s8)
TD_TOP_K_DECLARE(smallest_u8)
TD_TOP_K_DECLARE(smallest_s16)
TD_TOP_K_DECLARE(smallest_u16)
TD_TOP_K_DECLARE(smallest_s32)
TD_TOP_K_DECLARE(smallest_u32)
TD_TOP_K_DECLARE(smallest_s64)
TD_TOP_K_DECLARE(smallest_u64)
TD_TOP_K_DECLARE(smallest_f32)

#endif
