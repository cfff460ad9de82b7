/* td_arg.h - place of the largest or smallest element along the middle axis of [outer][count][inner].
 *
 * out [outer][inner] is int32, or int64 if p->wide. NaN is never chosen where there is a number.
 * in and out do not overlap. Source: ONNX ArgMax, ArgMin; TFLite ARG_MAX, ARG_MIN.
 */
#ifndef TD_ARG_H
#define TD_ARG_H

#include "td_arch.h"

typedef struct {
    int32_t outer;
    int32_t count;
    int32_t inner;
    int32_t last; /* 1: the last of equal elements, 0: the first */
    int32_t wide; /* 1: places are int64, 0: int32 */
} td_arg_params;

#define TD_ARG_DECLARE(name) void td_arg_##name(const td_arg_params *restrict p, const void *in, void *out);

TD_ARG_DECLARE(max_s8)
TD_ARG_DECLARE(max_u8)
TD_ARG_DECLARE(max_s16)
TD_ARG_DECLARE(max_u16)
TD_ARG_DECLARE(max_s32)
TD_ARG_DECLARE(max_u32)
TD_ARG_DECLARE(max_s64)
TD_ARG_DECLARE(max_u64)
TD_ARG_DECLARE(max_f32)
TD_ARG_DECLARE(min_s8)
TD_ARG_DECLARE(min_u8)
TD_ARG_DECLARE(min_s16)
TD_ARG_DECLARE(min_u16)
TD_ARG_DECLARE(min_s32)
TD_ARG_DECLARE(min_u32)
TD_ARG_DECLARE(min_s64)
TD_ARG_DECLARE(min_u64)
TD_ARG_DECLARE(min_f32)

#endif
