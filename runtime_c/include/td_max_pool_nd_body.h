/* td_max_pool_nd_body.h - the loops of td_max_pool_nd_*.c, which say before including it: TD_X the element type,
 * TD_LOWEST its lowest number, TD_WINS(v, best) whether v replaces best.
 */
#include "td_walk.h"

/* Each output is the largest value so far until its window is done. Afterwards it is limited to low..high. */
TD_INLINE void td_max_pool_nd(const td_axes *restrict g, const TD_X *x, TD_X *out, TD_X low, TD_X high)
{
    const int32_t channels = g->in_channels;
    for (int32_t n = 0; n < g->batch; n++) {
        td_walk walk = {g, {0, 0, 0}, 0, 0, 0};
        do {
            for (int32_t c = 0; c < channels; c++) {
                out[c] = TD_LOWEST;
            }
            walk.tap = 0;
            for (int32_t pixel = td_walk_tap(&walk); pixel >= 0; pixel = td_walk_tap(&walk)) {
                const TD_X *const from = x + pixel * channels;
                for (int32_t c = 0; c < channels; c++) {
                    const TD_X v = from[c];
                    if (TD_WINS(v, out[c])) {
                        out[c] = v;
                    }
                }
            }
            for (int32_t c = 0; c < channels; c++) {
                const TD_X v = out[c] < low ? low : out[c];
                out[c] = v > high ? high : v;
            }
            out += channels;
        } while (td_walk_next(&walk));
        x += td_axes_positions(g) * channels;
    }
}
