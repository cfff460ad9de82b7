/* td_cumsum.h - running sums and products along the middle axis of [outer][count][inner].
 *
 * Named by bits of an integer, as they wrap, or f32; sums start at +0, products at 1. in and out do not overlap.
 * Source: ONNX CumSum, CumProd; TFLite CUMSUM.
 */
#ifndef TD_CUMSUM_H
#define TD_CUMSUM_H

#include "td_arch.h"

typedef struct {
    int32_t outer;
    int32_t count;
    int32_t inner;
    int32_t exclusive; /* 1: without the element itself */
    int32_t reverse;   /* 1: from the end */
} td_cumsum_params;

#define TD_CUMSUM_DECLARE(name) void td_##name(const td_cumsum_params *restrict p, const void *in, void *out);

TD_CUMSUM_DECLARE(cumsum_8)
TD_CUMSUM_DECLARE(cumsum_16)
TD_CUMSUM_DECLARE(cumsum_32)
TD_CUMSUM_DECLARE(cumsum_64)
TD_CUMSUM_DECLARE(cumsum_f32)
TD_CUMSUM_DECLARE(cumprod_8)
TD_CUMSUM_DECLARE(cumprod_16)
TD_CUMSUM_DECLARE(cumprod_32)
TD_CUMSUM_DECLARE(cumprod_64)
TD_CUMSUM_DECLARE(cumprod_f32)

#endif
