/* td_block_mve.h - inner blocks of convolutions for the vector extension (M55, M85), and their plain C twins.
 *
 * Four pixels by two output channels, sixteen taps at a time (VMLADAVA.S8).
 *
 * windows  int8 [taps / 16][4 pixels][16 taps], aligned to 4
 * stream   int32 words, by pairs of channels a and b: weights int8 [taps / 16][a, b][16], then the td_exact records of
 * a and b. Taps and channels are filled up with zeros
 *
 * y = saturate(zero_point + TFLite's double rounding of sum + bias); shift <= -1 (td_requant.h). Source: derived here.
 */
#ifndef TD_BLOCK_MVE_H
#define TD_BLOCK_MVE_H

#include "td_requant.h"

typedef struct {
    int32_t window_bytes; /* of all four pixels: a multiple of 64, > 0 */
    int32_t channels;     /* even, > 0 */
    int32_t zero_point;
    uint16_t offsets[8]; /* from `out` to [pixel][channel a, b] */
    uint32_t lanes;      /* which of these are written: two bits each */
} td_block_mve;

/* Compute [4 pixels][channels]; returns the end of the stream read. */
const int32_t *td_block_exact_mve(const int8_t *windows, const int32_t *restrict stream, int8_t *out,
                                  const td_block_mve *restrict p);

typedef struct {
    int32_t offset;    /* from a row's pointer to the first pixel's taps */
    int32_t step;      /* from one pixel's taps to the next one's */
    int32_t at;        /* place of the first tap of the first row in a window */
    int32_t taps;      /* of a row that are copied, may be 0 */
    int32_t row_taps;  /* from a row's place to the next one's */
    int32_t end;       /* `at` plus a multiple of row_taps, not 0 */
    int32_t pixels;    /* > 0 */
    const int8_t *pad; /* a row that is this pointer is read there, offset and step being 0 */
} td_spread_mve_t;

/* Copy taps of kernel rows into the windows of one or several pixels, which begin at `windows`. rows NULL: all padding.
 */
void td_spread_mve(const int8_t *const *rows, int8_t *windows, const td_spread_mve_t *restrict p);

#endif
