/* td_pad_64.h - padding of elements of 8 bytes with any value; td_copy.h pads all others.
 *
 * in and out are dense and do not overlap; runs of `in` with padding between them. Sizes are elements.
 */
#ifndef TD_PAD_64_H
#define TD_PAD_64_H

#include "td_copy.h"

typedef struct {
    int64_t value;
    int32_t run;                 /* elements of `in` that stay together */
    int32_t before;              /* padding before the first run */
    int32_t after;               /* padding after the last run */
    int32_t size[TD_OUTER_AXES]; /* how the runs are ordered, from slowest to fastest axis */
    int32_t gap[TD_OUTER_AXES];  /* padding before the next position of an axis */
} td_pad_64_params;

void td_pad_64(const td_pad_64_params *restrict p, const void *in, void *out);

#endif
