/* td_reduce.h - sums, products, extremes and means over axes.
 *
 * out is dense over up to three kept axes; each of its elements is made of those along up to three reduced axes, one
 * after the other, the last axis fastest. Sizes and steps are elements, from slowest to fastest; unused axes have
 * size 1. sum and prod of integers are named by bits, as they wrap; f32 sums start at +0, products at 1. In max and min
 * NaN wins, and of equal elements the first. A mean of integers is the sum modulo 2^64, divided without the fraction.
 * in and out do not overlap.
 * Source: ONNX ReduceSum, ReduceProd, ReduceMax, ReduceMin, ReduceMean; TFLite SUM, REDUCE_PROD, REDUCE_MAX,
 * REDUCE_MIN, REDUCE_ANY (max_u8), REDUCE_ALL (min_u8), MEAN.
 */
#ifndef TD_REDUCE_H
#define TD_REDUCE_H

#include "td_arch.h"

#define TD_REDUCE_AXES 3

typedef struct {
    int32_t kept[TD_REDUCE_AXES];
    int32_t kept_step[TD_REDUCE_AXES];
    int32_t size[TD_REDUCE_AXES];
    int32_t step[TD_REDUCE_AXES];
    int32_t count; /* elements that make one result */
} td_reduce;

#define TD_REDUCE_DECLARE(name) void td_reduce_##name(const td_reduce *restrict p, const void *in, void *out);

TD_REDUCE_DECLARE(sum_8)
TD_REDUCE_DECLARE(sum_16)
TD_REDUCE_DECLARE(sum_32)
TD_REDUCE_DECLARE(sum_64)
TD_REDUCE_DECLARE(sum_f32)
TD_REDUCE_DECLARE(prod_8)
TD_REDUCE_DECLARE(prod_16)
TD_REDUCE_DECLARE(prod_32)
TD_REDUCE_DECLARE(prod_64)
TD_REDUCE_DECLARE(prod_f32)
TD_REDUCE_DECLARE(max_s8)
TD_REDUCE_DECLARE(max_u8)
TD_REDUCE_DECLARE(max_s16)
TD_REDUCE_DECLARE(max_u16)
TD_REDUCE_DECLARE(max_s32)
TD_REDUCE_DECLARE(max_u32)
TD_REDUCE_DECLARE(max_s64)
TD_REDUCE_DECLARE(max_u64)
TD_REDUCE_DECLARE(max_f32)
TD_REDUCE_DECLARE(min_s8)
TD_REDUCE_DECLARE(min_u8)
TD_REDUCE_DECLARE(min_s16)
TD_REDUCE_DECLARE(min_u16)
TD_REDUCE_DECLARE(min_s32)
TD_REDUCE_DECLARE(min_u32)
TD_REDUCE_DECLARE(min_s64)
TD_REDUCE_DECLARE(min_u64)
TD_REDUCE_DECLARE(min_f32)
TD_REDUCE_DECLARE(mean_s8)
TD_REDUCE_DECLARE(mean_u8)
TD_REDUCE_DECLARE(mean_s16)
TD_REDUCE_DECLARE(mean_u16)
TD_REDUCE_DECLARE(mean_s32)
TD_REDUCE_DECLARE(mean_u32)
TD_REDUCE_DECLARE(mean_s64)
TD_REDUCE_DECLARE(mean_f32)

#endif
