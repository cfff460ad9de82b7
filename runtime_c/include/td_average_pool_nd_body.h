/* td_average_pool_nd_body.h - the loops of td_average_pool_nd_s8.c and _s16.c, which say before including it: TD_X the
 * element type.
 */
#include "td_requant.h"
#include "td_walk.h"

#define TD_TOGETHER 16 /* channels whose sums are made in one walk over the window */

/* sum / count, halves away from zero. */
static inline int32_t td_mean(int32_t sum, int32_t count)
{
    return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

/* The outputs of up to TD_TOGETHER channels at a position; `x` is the sample's first value of these channels. */
static void td_average_channels(const td_average_pool_nd_params *restrict p, td_walk *restrict walk, const TD_X *x,
                                int32_t channels, TD_X *out)
{
    const td_axes *const g = &p->axes;
    int32_t sums[TD_TOGETHER] = {0};
    int32_t inside = 0;
    walk->tap = 0;
    for (int32_t pixel = td_walk_tap(walk); pixel >= 0; pixel = td_walk_tap(walk)) {
        const TD_X *const from = x + pixel * g->in_channels;
        for (int32_t c = 0; c < channels; c++) {
            sums[c] += from[c];
        }
        inside++;
    }
    const int32_t counted = p->count_pad ? td_axes_taps(g) : inside;
    const int32_t padding = (counted - inside) * p->zero_point;
    const int32_t count = counted > 0 ? counted : 1;
    for (int32_t c = 0; c < channels; c++) {
        out[c] = (TD_X)td_clamp(td_mean(sums[c] + padding, count), p->act_min, p->act_max);
    }
}

static void td_average_pool_nd(const td_average_pool_nd_params *restrict p, const TD_X *x, TD_X *out)
{
    const td_axes *const g = &p->axes;
    const int32_t channels = g->in_channels;
    for (int32_t n = 0; n < g->batch; n++) {
        td_walk walk = {g, {0, 0, 0}, 0, 0, 0};
        do {
            for (int32_t c = 0; c < channels; c += TD_TOGETHER) {
                const int32_t some = channels - c < TD_TOGETHER ? channels - c : TD_TOGETHER;
                td_average_channels(p, &walk, x + c, some, out + c);
            }
            out += channels;
        } while (td_walk_next(&walk));
        x += td_axes_positions(g) * channels;
    }
}
