/* td_svdf.h - a filter over features, then one over its last results.
 *
 * state[f] moves by one to the left and ends with the sum of features[f, i] * x[i];
 * y[u] = clamp(bias[u] + sum over r of sum over m of times[f, m] * state[f, m]), f = u * rank + r
 *
 * x          [batch, inputs]
 * features   [units * rank, inputs]
 * times      [units * rank, memory]
 * bias       [units] or NULL; in int8 kernels it is never NULL
 * in, out    [batch, units * rank, memory]: the state; may be the same memory
 * y          [batch, units]
 *
 * float32: every sum in rising order. int8: x and features int8, times and state int16; `bias` is int32; `centre`
 * [units * rank] is minus the zero point of x times a row's sum of features. Sums wrap. inputs is at most 2^16. Source:
 * TFLite SVDF, reference_ops::EvalFloatSVDF, EvalIntegerSVDF.
 */
#ifndef TD_SVDF_H
#define TD_SVDF_H

#include "td_requant.h"

typedef struct {
    int32_t batch;
    int32_t inputs;
    int32_t units;
    int32_t rank;
    int32_t memory;
    float low;
    float high;
} td_svdf_f32_params;

typedef struct {
    int32_t batch;
    int32_t inputs;
    int32_t units;
    int32_t rank;
    int32_t memory;
    int32_t state_multiplier;
    int32_t state_shift;
    int32_t multiplier;
    int32_t shift;
    int32_t zero_point;
} td_svdf_s8_params;

void td_svdf_f32(const td_svdf_f32_params *restrict p, const float *x, const float *restrict features,
                 const float *restrict times, const float *restrict bias, const float *in, float *y, float *out);

void td_svdf_s8(const td_svdf_s8_params *restrict p, const int8_t *x, const int8_t *restrict features,
                const int16_t *restrict times, const int32_t *restrict bias, const int32_t *restrict centre,
                const int16_t *in, int8_t *y, int16_t *out);

#endif
