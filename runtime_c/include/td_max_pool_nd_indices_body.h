/* td_max_pool_nd_indices_body.h - the loops of td_max_pool_nd_indices_*.c, which say before including it: TD_X the
 * element type, TD_LOWEST its lowest number.
 */
#include "td_walk.h"

/* One channel at a position: the index of its first largest value in the plane, the value in `best`. */
TD_INLINE int32_t td_largest(const td_max_pool_nd_indices_params *restrict p, td_walk *restrict walk, const TD_X *x,
                             TD_X *restrict best)
{
    int32_t index = 0;
    int32_t found = 0;
    *best = TD_LOWEST;
    walk->tap = 0;
    for (int32_t pixel = td_walk_tap(walk); pixel >= 0; pixel = td_walk_tap(walk)) {
        const TD_X v = x[pixel * p->axes.in_channels];
        if (v > *best || (!found && v >= *best)) {
            *best = v;
            index = walk->row * p->row_step + walk->column * p->column_step;
            found = 1;
        }
    }
    return found ? index : -1;
}

static void td_max_pool_nd_indices(const td_max_pool_nd_indices_params *restrict p, const TD_X *x, TD_X *out,
                                   int64_t *indices)
{
    const td_axes *const g = &p->axes;
    const int32_t channels = g->in_channels;
    const int32_t positions = td_axes_positions(g);
    for (int32_t n = 0; n < g->batch; n++) {
        td_walk walk = {g, {0, 0, 0}, 0, 0, 0};
        do {
            for (int32_t c = 0; c < channels; c++) {
                TD_X best;
                const int32_t index = td_largest(p, &walk, x + c, &best);
                *out++ = best;
                *indices++ = index < 0 ? 0 : (int64_t)(n * channels + c) * positions + index;
            }
        } while (td_walk_next(&walk));
        x += positions * channels;
    }
}
