/* td_trio.h - six or three pixels by all channels where multiplies give 32 bits: assembly for ARMv6-M, and a C twin.
 *
 * Three sums fit into two words: with A = x0 + x1 * 2^11 and B = x1 + x2 * 2^11 two multiplications by a weight do the
 * work of three, and the sums
 *   a = S0 + S1 * 2^11, b = S1 + S2 * 2^11   (modulo 2^32)
 * give S1 modulo 2^11 from b, then S0 modulo 2^22 from a, and from it exactly S1 and S2. The converter guarantees
 * |S| < 2^20 for every stretch of taps that is summed up at once (a "window" below).
 *
 * Weights are bytes w + 128, as only those load with an offset in the instruction; the sums start at -128 times the
 * sum of A or B.
 *
 * windows  one behind the other: {start of a, start of b, then A, B of every tap}, for six pixels {a, b, a', b', then
 *          A, B, A', B' of every tap}: uint32
 * weights  uint8 [channels][windows][taps]
 * short    records td_affine, y = (acc * m + c) >> (part + constant), part < 32, all bits of m below 2^part times acc
 *          and a carry fit 32 bits, and so do those of acc * m + c from 2^part on
 * affine   records td_affine, y = ((acc * m + c) >> 32) >> shift; `constant` is 10 + shift
 * exact    records td_exact with shift < 0; `constant` is 2 * (output zero point) + 1
 *
 * Both saturate to int8. The assembly multiplies part by part of m: |acc|, |acc + bias| < 2^20 and |acc * m + c| <
 * 2^53; in several windows 2^23 and 2^55.
 *
 * Source: derived here.
 */
#ifndef TD_TRIO_H
#define TD_TRIO_H

#include "td_requant.h"

typedef struct {
    const void *requant; /* a record a channel */
    int32_t taps;        /* of a window, > 0 */
    int32_t channels;    /* > 0 */
    int32_t distance;    /* between the outputs of two pixels */
    int32_t pixels;      /* how many of the last ones are kept: 1..6, 1..3 */
    int32_t constant;
    int32_t windows; /* > 0 */
    int32_t part;    /* short */
} td_trio;

/* A window being packed. */
typedef struct {
    uint32_t *to;
    int32_t distance;   /* between two pixels of the input */
    uint32_t starts[4]; /* sums of A, B (A', B') so far */
} td_trio_packer;

/* Channel c of the i-th pixel kept goes to out[i * distance + c]. Six pixels or three, one window or any number. */
void td_trio_short6(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out, const td_trio *restrict p);
void td_trio_short3(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out, const td_trio *restrict p);
void td_trio_affine6(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out, const td_trio *restrict p);
void td_trio_affine3(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out, const td_trio *restrict p);
void td_trio_affine6_windows(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out,
                             const td_trio *restrict p);
void td_trio_affine3_windows(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out,
                             const td_trio *restrict p);
void td_trio_exact6(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out, const td_trio *restrict p);
void td_trio_exact3(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out, const td_trio *restrict p);
void td_trio_exact6_windows(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out,
                            const td_trio *restrict p);
void td_trio_exact3_windows(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out,
                            const td_trio *restrict p);

/* Append `taps` (> 0) values that follow each other in every pixel; x is the first pixel's. */
void td_trio_pack6(const int8_t *x, int32_t taps, td_trio_packer *restrict k);
void td_trio_pack3(const int8_t *x, int32_t taps, td_trio_packer *restrict k);

#endif
