/* td_columns.h - one to five neighbouring pixels of a depthwise convolution: assembly, and a plain C twin.
 *
 * A window is a list of groups of three taps that lie side by side; a column that several pixels see is loaded once.
 *
 * table    pointers [groups][(pixels - 1) * stride + 3] to the channels of a column; tap k of pixel i is column
 *          i * stride + k
 * weights  int8 [channels][groups][3]
 * affine   records td_affine, y = ((acc * m + c) >> 32) >> 2; |acc * m + c| < 2^53
 * exact    records {2 * bias, m, e - 1}, TFLite's double rounding with e >= 1 bits to the right; |acc + bias| < 2^30
 * out      [pixels][channels] int8
 *
 * Both saturate to int8. The name tells the stride, 1 or 2. Source: derived here.
 */
#ifndef TD_COLUMNS_H
#define TD_COLUMNS_H

#include "td_requant.h"

#define TD_COLUMNS_PIXELS 5

typedef struct {
    const int8_t *const *end; /* of the table */
    int32_t channels;
    int32_t zero_point; /* exact: of the output */
    int32_t pixels;     /* 1..TD_COLUMNS_PIXELS */
} td_columns;

void td_columns_s1_affine(const int8_t *const *table, const int8_t *restrict weights, int8_t *out,
                          const td_columns *restrict p, const td_affine *restrict requant);
void td_columns_s1_exact(const int8_t *const *table, const int8_t *restrict weights, int8_t *out,
                         const td_columns *restrict p, const td_exact *restrict requant);
void td_columns_s2_affine(const int8_t *const *table, const int8_t *restrict weights, int8_t *out,
                          const td_columns *restrict p, const td_affine *restrict requant);
void td_columns_s2_exact(const int8_t *const *table, const int8_t *restrict weights, int8_t *out,
                         const td_columns *restrict p, const td_exact *restrict requant);

#endif
