/* td_copy.h - moves elements of any type: runs at a fixed distance, up to six axes in any order, padding.
 *
 * All sizes, steps and offsets are bytes. Bytes are moved in rising order of the output, so out may lie below in as far
 * as the converter's access plan says.
 *
 * td_copy_blocks  `count` runs of `size` bytes: concatenation, split
 * td_copy_nd      out is dense; its axes from slowest to fastest read `in` with `step`, which may be negative:
 *                 transpose, strided slice. `unit` bytes are moved at once.
 * td_pad_nd       in and out are dense; `before` and `after` units of `value` bytes around each axis
 */
#ifndef TD_COPY_H
#define TD_COPY_H

#include "td_arch.h"

#define TD_AXES 6

typedef struct {
    int32_t count;
    int32_t size;
    int32_t in_step;
    int32_t out_step;
    int32_t in_offset;
    int32_t out_offset;
} td_blocks;

typedef struct {
    int32_t unit;
    int32_t offset; /* where in `in` the first unit is */
    int32_t size[TD_AXES];
    int32_t step[TD_AXES];
} td_copy_nd_params;

typedef struct {
    int32_t unit;          /* bytes of the fastest run of `in` that is moved at once */
    int32_t value;         /* what a byte of padding holds */
    int32_t size[TD_AXES]; /* of the output, in units */
    int32_t first[TD_AXES]; /* positions first..last-1 of an axis come from `in` */
    int32_t last[TD_AXES];
} td_pad_nd_params;

void td_copy_blocks(const td_blocks *restrict p, const void *in, void *out);

void td_copy_nd(const td_copy_nd_params *restrict p, const void *in, void *out);

void td_pad_nd(const td_pad_nd_params *restrict p, const void *in, void *out);

#endif
