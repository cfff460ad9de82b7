/* td_resize_bilinear.h - bilinear resizing of NHWC images.
 *
 * For each row and column of out: `at` holds pairs (lower, upper) of neighbours in `in`, `far` the distance from the
 * lower one: a part of one in float32, 1024ths in integers. in and out do not overlap.
 * Source: TFLite RESIZE_BILINEAR, reference_ops::ResizeBilinear, ResizeBilinearInteger.
 */
#ifndef TD_RESIZE_BILINEAR_H
#define TD_RESIZE_BILINEAR_H

#include "td_arch.h"

typedef struct {
    int32_t batches;
    int32_t in_height;
    int32_t in_width;
    int32_t height;
    int32_t width;
    int32_t depth;
    const int32_t *row_at;
    const int32_t *column_at;
} td_resize;

void td_resize_bilinear_f32(const td_resize *restrict p, const float *row_far, const float *column_far, const float *in,
                            float *out);

void td_resize_bilinear_s8(const td_resize *restrict p, const int32_t *row_far, const int32_t *column_far,
                           const int8_t *in, int8_t *out);

void td_resize_bilinear_s16(const td_resize *restrict p, const int32_t *row_far, const int32_t *column_far,
                            const int16_t *in, int16_t *out);

#endif
