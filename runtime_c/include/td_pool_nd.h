/* td_pool_nd.h - pooling over three axes of any batch and type.
 *
 * Geometry as in td_axes.h without a divisor; a tap outside the input is not there. x [batch][depth][height][width][C],
 * out likewise, in rising order. Axes that a layer lacks have length 1.
 *
 * td_max_pool_nd_*           the largest in a window; NaN wins; the lowest number of the type where there is none
 * td_max_pool_nd_indices_*   as the first, one place after the other, with the index of the first largest as ONNX
 *                            counts; NaN never wins. Two spatial axes
 * td_average_pool_nd_f32     sum of the taps in rising order over their count
 * td_average_pool_nd_s8      the same, rounded, halves away from zero; with `count_pad` every tap counts, one outside
 * td_average_pool_nd_s16     as the zero point
 */
#ifndef TD_POOL_ND_H
#define TD_POOL_ND_H

#include "td_axes.h"

typedef struct {
    td_axes axes;
    int32_t act_min;
    int32_t act_max;
} td_max_pool_nd_params;

typedef struct {
    td_axes axes;
    float low;
    float high;
    int32_t count_pad;
} td_pool_nd_f32_params;

typedef struct {
    td_axes axes;
    int32_t zero_point;
    int32_t count_pad;
    int32_t act_min;
    int32_t act_max;
} td_average_pool_nd_params;

typedef struct {
    td_axes axes;
    int32_t row_step; /* what a row adds to an index */
    int32_t column_step;
} td_max_pool_nd_indices_params;

void td_max_pool_nd_f32(const td_pool_nd_f32_params *restrict p, const float *x, float *out);

void td_max_pool_nd_s8(const td_max_pool_nd_params *restrict p, const int8_t *x, int8_t *out);

void td_max_pool_nd_u8(const td_max_pool_nd_params *restrict p, const uint8_t *x, uint8_t *out);

void td_max_pool_nd_s16(const td_max_pool_nd_params *restrict p, const int16_t *x, int16_t *out);

void td_max_pool_nd_indices_f32(const td_max_pool_nd_indices_params *restrict p, const float *x, float *out,
                                int64_t *indices);

void td_max_pool_nd_indices_s8(const td_max_pool_nd_indices_params *restrict p, const int8_t *x, int8_t *out,
                               int64_t *indices);

void td_max_pool_nd_indices_u8(const td_max_pool_nd_indices_params *restrict p, const uint8_t *x, uint8_t *out,
                               int64_t *indices);

void td_average_pool_nd_f32(const td_pool_nd_f32_params *restrict p, const float *x, float *out);

void td_average_pool_nd_s8(const td_average_pool_nd_params *restrict p, const int8_t *x, int8_t *out);

void td_average_pool_nd_s16(const td_average_pool_nd_params *restrict p, const int16_t *x, int16_t *out);

#endif
