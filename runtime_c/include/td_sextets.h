/* td_sextets.h - six dot products with one vector where multiplies give 32 bits: assembly for ARMv6-M, and a C twin.
 *
 * Weights of three outputs are stored in two words, A = w0 + w1 * 2^11 and B = w1 + w2 * 2^11, so that two
 * multiplications by x do the work of three. The sums
 *   a = S0 + S1 * 2^11, b = S1 + S2 * 2^11   (modulo 2^32)
 * give S1 modulo 2^11 from b, then S0 modulo 2^22 from a, and from it exactly S1 and S2. The converter guarantees
 * |S| < 2^20 for every stretch of taps that is summed up at once.
 *
 * x        uint8 [taps]: the vector plus 128, as only such bytes load with an offset in the instruction
 * weights  uint32 {start of a, b, a', b', then A, B, A', B' of every tap}; a start is -128 times the sum of its words
 * records  {m, m >> 10, m >> 20, c, c >> 10, c >> 20} of y = (acc * m + c) >> (20 + shift), all but the last of each
 *          three cut to 10 bits; |acc| < 2^21, |acc * m + c| < 2^51
 *
 * Source: derived here.
 */
#ifndef TD_SEXTETS_H
#define TD_SEXTETS_H

#include "td_arch.h"

typedef struct {
    int32_t m0;
    int32_t m1;
    int32_t m2;
    int32_t c0;
    int32_t c1;
    int32_t c2;
} td_parts;

typedef struct {
    const int32_t *end; /* of the sums */
    int32_t shift;
} td_sums;

/* Add the six sums over `taps` (> 0) to sums; returns the end of the weights. */
const uint32_t *td_sextet_sums(const uint8_t *x, const uint32_t *restrict weights, int32_t taps, int32_t *sums);

/* Requantise the sums up to `end` to int8, saturating; returns the end of the records. */
const td_parts *td_sextet_round(const td_parts *restrict records, const int32_t *sums, int8_t *out,
                                const td_sums *restrict p);

#endif
