/* td_pairs.h - four pixels by all channels where 32 x 32 -> 64 bit is one instruction: assembly for ARMv7-M, and a C
 * twin.
 *
 * A 64-bit product with x0 + x1 * 2^23 is two products, so SMLAL does two pixels at once. A sum S0 + S1 * 2^23 is taken
 * apart at the end; the converter guarantees |S0|, |S1| < 2^22.
 *
 * windows  [taps][2] int32: x0 + x1 * 2^23 and x2 + x3 * 2^23 of the four pixels; td_pairs_pack makes them
 * weights  int8 [channel pair][taps][2]
 * affine   records td_affine, y = ((acc * m + c) >> 32) >> 2
 * exact    records {2 * bias, m, e - 1}, TFLite's double rounding with e >= 1 bits to the right; |acc + bias| < 2^30
 *
 * Both saturate to int8. Source: derived here.
 */
#ifndef TD_PAIRS_H
#define TD_PAIRS_H

#include "td_requant.h"

typedef struct {
    int32_t taps;        /* > 0 */
    int32_t channels;    /* even, > 0 */
    int32_t distance[3]; /* from the output of the first pixel to those of the others; equal ones are the same pixel */
    int32_t zero_point;  /* exact: of the output */
} td_pairs;

void td_pairs_affine(const int32_t *windows, const int8_t *restrict weights, int8_t *out, const td_pairs *restrict p,
                     const td_affine *restrict requant);
void td_pairs_exact(const int32_t *windows, const int8_t *restrict weights, int8_t *out, const td_pairs *restrict p,
                    const td_exact *restrict requant);

/* Pack `size` values of four pixels; returns the end of the windows written. */
static inline int32_t *td_pairs_pack(const int8_t *const from[4], int32_t size, int32_t *to)
{
    const int8_t *x0 = from[0];
    const int8_t *x1 = from[1];
    const int8_t *x2 = from[2];
    const int8_t *x3 = from[3];
    for (const int32_t *const end = to + 2 * size; to != end; to += 2) {
        to[0] = td_add_wrap(*x0++, td_shl_wrap(*x1++, 23));
        to[1] = td_add_wrap(*x2++, td_shl_wrap(*x3++, 23));
    }
    return to;
}

#endif
