/* td_mean.h - mean along two axes of [outer][far][middle][count][inner], int8; with one axis far and middle are 1.
 *
 * y[o][m][i] = clamp(requant(sum over f, k of x[o][f][m][k][i])); far * count and zero points are inside the record.
 *
 * in       [outer][far][middle][count][inner] int8, must not overlap out
 * requant  one record, td_requant.h
 * out      [outer][middle][inner] int8
 *
 * far * count <= 2^16. Source: TFLite MEAN and SUM int8.
 */
#ifndef TD_MEAN_H
#define TD_MEAN_H

#include "td_requant.h"

typedef struct {
    int32_t outer;
    int32_t far;
    int32_t middle;
    int32_t count;
    int32_t inner;
    int32_t shift;      /* affine: shift to the right */
    int32_t zero_point; /* exact: of the output */
} td_mean_params;

void td_mean_s8(const td_mean_params *restrict p, const int8_t *in, const td_affine *restrict requant, int8_t *out);

void td_mean_s8_exact(const td_mean_params *restrict p, const int8_t *in, const td_exact *restrict requant,
                      int8_t *out);

void td_mean_s8_wide(const td_mean_params *restrict p, const int8_t *in, const td_wide *restrict requant, int8_t *out);

#endif
