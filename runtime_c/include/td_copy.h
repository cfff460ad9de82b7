/* td_copy.h - moves elements of any type: runs at a fixed distance, up to six axes in any order, padding.
 *
 * All sizes, steps and offsets are bytes. Bytes are moved in rising order of the output, so out may lie below in as far
 * as the converter's access plan says. in and out are aligned to their elements; runs that lie alike go word by word.
 *
 * td_copy_blocks  `count` runs of `size` bytes: concatenation, split
 * td_copy_nd      out is dense; its axes from slowest to fastest read `in` with `step`, which may be negative:
 *                 transpose, strided slice
 * td_pad_nd       in and out are dense; runs of `in` with padding between them
 */
#ifndef TD_COPY_H
#define TD_COPY_H

#include "td_arch.h"

#define TD_OUTER_AXES 5

typedef struct {
    int32_t count;
    int32_t size;
    int32_t in_step;
    int32_t out_step;
    int32_t in_offset;
    int32_t out_offset;
} td_blocks;

typedef struct {
    int32_t unit;       /* bytes of an element: 1, 2, 4 or 8 */
    int32_t offset;     /* where in `in` the first element is */
    int32_t inner;      /* elements of the fastest axis */
    int32_t inner_step; /* of the fastest axis; `unit` if it is a run */
    int32_t size[TD_OUTER_AXES];
    int32_t step[TD_OUTER_AXES];
} td_copy_nd_params;

typedef struct {
    uint8_t value[4];            /* what four bytes of padding hold from an address that is a multiple of 4 */
    int32_t run;                 /* bytes of `in` that stay together */
    int32_t before;              /* padding before the first run */
    int32_t after;               /* padding after the last run */
    int32_t size[TD_OUTER_AXES]; /* how the runs are ordered, from slowest to fastest axis */
    int32_t gap[TD_OUTER_AXES];  /* padding before the next position of an axis */
} td_pad_nd_params;

/* `size` bytes that do not overlap, by words where both places allow it. */
void td_copy_run(void *to, const void *from, int32_t size);

void td_copy_blocks(const td_blocks *restrict p, const void *in, void *out);

void td_copy_nd(const td_copy_nd_params *restrict p, const void *in, void *out);

void td_pad_nd(const td_pad_nd_params *restrict p, const void *in, void *out);

#endif
