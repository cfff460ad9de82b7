/* td_mean_any.h - means and sums of quantised integers over any axes (td_mean.h has the ones made fast).
 *
 * y = clamp(zero_point + double_round((sum - offset) * real)); walks as td_reduce.h; sums modulo 2^32
 *
 * offset       the input's zero point times the number of elements summed
 * multiplier   Q31 with shift, td_requant.h; for a mean it holds the number of elements, and need not be normalised
 *
 * in and out do not overlap. Source: TFLite MEAN and SUM, reference_ops::QuantizedMeanOrSum.
 */
#ifndef TD_MEAN_ANY_H
#define TD_MEAN_ANY_H

#include "td_reduce.h"
#include "td_requant.h"

typedef struct {
    td_reduce axes;
    int32_t offset;
    int32_t multiplier;
    int32_t shift;
    int32_t zero_point;
    int32_t act_min;
    int32_t act_max;
} td_mean_any_params;

void td_mean_any_s8(const td_mean_any_params *restrict p, const int8_t *in, int8_t *out);

void td_mean_any_s16(const td_mean_any_params *restrict p, const int16_t *in, int16_t *out);

#endif
