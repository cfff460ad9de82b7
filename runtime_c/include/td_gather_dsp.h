/* td_gather_dsp.h - widens the windows of two pixels, in the order of td_block_dsp.h. */
#ifndef TD_GATHER_DSP_H
#define TD_GATHER_DSP_H

#include "td_arch.h"

typedef struct {
    int32_t offset[2]; /* of rows: from a row's pointer to the taps of the first and of the second pixel */
    const int8_t *pad; /* of rows: a row that is this pointer is read there, without an offset */
    int32_t rows;      /* > 0 */
    int32_t groups;    /* of four taps of a row and pixel */
    int32_t skip;      /* bytes left out in the windows after a row's groups */
    int32_t rest;      /* taps of a row after the groups: 0 to 3 */
    int16_t *rest_at;  /* where they go, those of all rows after each other; aligned to 16 */
} td_gather_dsp;

void td_gather_rows_dsp(const int8_t *const *rows, int16_t *windows, const td_gather_dsp *restrict p);

/* The same where a row's taps are three columns of `channels`, a multiple of four, and the second pixel is one column
 * to the right of the first. */
void td_gather_three_dsp(const int8_t *const *rows, int16_t *windows, const td_gather_dsp *restrict p,
                         int32_t channels);

/* `list`: where each row's taps of the first and of the second pixel begin. */
void td_gather_list_dsp(const td_pointer *list, int16_t *windows, const td_gather_dsp *restrict p);

#endif
