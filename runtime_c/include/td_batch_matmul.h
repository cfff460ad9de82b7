/* td_batch_matmul.h - products of matrices, neither of which need be constant.
 *
 * y[...][m][n] = finish(sum over k of a[...][m][k] * b[...][k][n]); leading axes broadcast (a step of 0)
 *
 * td_batch_matmul_f32  float32; sums begin at 0, in the order of k
 * td_batch_matmul_s32  int32 modulo 2^32
 * td_batch_matmul_s8   int8 with TFLite's double rounding; `offset`s are added to both; sums modulo 2^32
 * td_batch_matmul_s16  int16, sums in int64 below 2^47, reduced multiplier (td_requant64.h)
 *
 * out is written in rising order. Source: TFLite BATCH_MATMUL; ONNX MatMul.
 */
#ifndef TD_BATCH_MATMUL_H
#define TD_BATCH_MATMUL_H

#include "td_requant64.h"

#define TD_MATMUL_LEAD 4

typedef struct {
    int32_t rows;    /* m */
    int32_t terms;   /* k */
    int32_t columns; /* n */
    int32_t size[TD_MATMUL_LEAD];
    int32_t a_step[TD_MATMUL_LEAD]; /* in elements */
    int32_t b_step[TD_MATMUL_LEAD];
} td_matmul_shape;

typedef struct {
    td_matmul_shape shape;
    float low;
    float high;
} td_batch_matmul_f32_params;

typedef struct {
    td_matmul_shape shape;
    int32_t a_offset; /* minus the zero point */
    int32_t b_offset;
    int32_t multiplier;
    int32_t shift;
    int32_t zero_point;
    int32_t act_min;
    int32_t act_max;
} td_batch_matmul_s8_params;

typedef struct {
    td_matmul_shape shape;
    int32_t a_offset;
    int32_t b_offset;
    td_reduced requant;
    int32_t zero_point;
    int32_t act_min;
    int32_t act_max;
} td_batch_matmul_s16_params;

void td_batch_matmul_f32(const td_batch_matmul_f32_params *restrict p, const float *a, const float *b, float *out);

void td_batch_matmul_s32(const td_matmul_shape *restrict p, const int32_t *a, const int32_t *b, int32_t *out);

void td_batch_matmul_s8(const td_batch_matmul_s8_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out);

void td_batch_matmul_s16(const td_batch_matmul_s16_params *restrict p, const int16_t *a, const int16_t *b,
                         int16_t *out);

#endif
