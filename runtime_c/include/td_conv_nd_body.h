/* td_conv_nd_body.h - the loops of td_conv_nd_*.c, which say before including it what a number is:
 *
 * TD_X, TD_W, TD_SUM, TD_Y     element types of input, weights, sums and output
 * TD_MAC(done, sum, x, w)      the sum and one product
 * td_done, td_finish(done, channel, sum)   what becomes of a sum
 *
 * Each sum begins at zero and goes tap after tap in rising order, within a tap channel after channel. Four output
 * channels go together, each with a sum of its own.
 */
#include "td_axes.h"

/* One run of neighbouring inputs for four channels whose weights are `terms` apart. Not inline, so that all it works
 * with is in registers. */
static TD_NOINLINE void td_conv_nd_run_of_4(const td_done *restrict done, const TD_X *x, const TD_W *w, int32_t terms,
                                            int32_t size, TD_SUM *restrict sum)
{
    const TD_W *w1 = w + terms;
    const TD_W *w2 = w1 + terms;
    const TD_W *w3 = w2 + terms;
    TD_SUM s0 = sum[0];
    TD_SUM s1 = sum[1];
    TD_SUM s2 = sum[2];
    TD_SUM s3 = sum[3];
    (void)done;
    for (const TD_X *const end = x + size; x != end; x++) {
        const TD_X v = *x;
        s0 = TD_MAC(done, s0, v, *w);
        s1 = TD_MAC(done, s1, v, *w1);
        s2 = TD_MAC(done, s2, v, *w2);
        s3 = TD_MAC(done, s3, v, *w3);
        w++;
        w1++;
        w2++;
        w3++;
    }
    sum[0] = s0;
    sum[1] = s1;
    sum[2] = s2;
    sum[3] = s3;
}

/* The same for 1 or 4 channels. */
TD_INLINE void td_conv_nd_run(const td_done *restrict done, const TD_X *x, const TD_W *w, int32_t terms, int32_t size,
                              int32_t channels, TD_SUM *restrict sum)
{
    if (channels != 1) {
        td_conv_nd_run_of_4(done, x, w, terms, size, sum);
        return;
    }
    TD_SUM s0 = sum[0];
    (void)done;
    for (int32_t i = 0; i < size; i++) {
        s0 = TD_MAC(done, s0, x[i], w[i]);
    }
    sum[0] = s0;
}

/* All taps along the width; `x` is the input row of the group, `w` the weights of this kernel row. */
TD_INLINE void td_conv_nd_row(const td_axes *restrict g, const td_done *restrict done, const TD_X *x, const TD_W *w,
                              int32_t column, int32_t terms, int32_t channels, TD_SUM *restrict sum)
{
    const td_axis *const width = &g->axis[2];
    const int32_t depth = g->in_channels / g->groups;
    if (g->merged) {
        const int32_t first = column * width->step + width->first;
        const int32_t begin = first < 0 ? -first : 0;
        const int32_t end = width->in - first < width->taps ? width->in - first : width->taps;
        if (begin < end) {
            td_conv_nd_run(done, x + (first + begin) * depth, w + begin * depth, terms, (end - begin) * depth, channels,
                           sum);
        }
        return;
    }
    for (int32_t k = 0; k < width->taps; k++) {
        const int32_t at = td_axis_at(width, column, k);
        if (at >= 0) {
            td_conv_nd_run(done, x + at * g->in_channels, w + k * depth, terms, depth, channels, sum);
        }
    }
}

/* The outputs of 1 or 4 channels at a position. */
TD_INLINE void td_conv_nd_outputs(const td_axes *restrict g, const td_done *restrict done, const TD_X *x, const TD_W *w,
                                  const int32_t *restrict at, int32_t channel, int32_t channels, TD_Y *restrict out)
{
    TD_SUM sum[4] = {0, 0, 0, 0};
    const int32_t row = g->axis[2].taps * (g->in_channels / g->groups);
    const int32_t terms = g->axis[0].taps * g->axis[1].taps * row;
    for (int32_t i = 0; i < g->axis[0].taps; i++) {
        const int32_t plane = td_axis_at(&g->axis[0], at[0], i);
        for (int32_t j = 0; j < g->axis[1].taps; j++, w += row) {
            const int32_t line = td_axis_at(&g->axis[1], at[1], j);
            if (plane >= 0 && line >= 0) {
                const int32_t start = (plane * g->axis[1].in + line) * g->axis[2].in * g->in_channels;
                td_conv_nd_row(g, done, x + start, w, at[2], terms, channels, sum);
            }
        }
    }
    for (int32_t i = 0; i < channels; i++) {
        out[i] = td_finish(done, channel + i, sum[i]);
    }
}

/* All channels at a position. */
static void td_conv_nd_pixel(const td_axes *restrict g, const td_done *restrict done, const TD_X *x, const TD_W *w,
                             const int32_t *restrict at, TD_Y *restrict out)
{
    const int32_t depth = g->in_channels / g->groups;
    const int32_t terms = td_axes_taps(g) * depth;
    const int32_t per_group = g->out_channels / g->groups;
    int32_t channel = 0;
    for (int32_t group = 0; group < g->groups; group++) {
        const int32_t end = channel + per_group;
        for (; end - channel >= 4; channel += 4) {
            td_conv_nd_outputs(g, done, x + group * depth, w + channel * terms, at, channel, 4, out + channel);
        }
        for (; channel < end; channel++) {
            td_conv_nd_outputs(g, done, x + group * depth, w + channel * terms, at, channel, 1, out + channel);
        }
    }
}

static void td_conv_nd(const td_axes *restrict g, const td_done *restrict done, const TD_X *x, const TD_W *w, TD_Y *out)
{
    const int32_t sample = g->axis[0].in * g->axis[1].in * g->axis[2].in * g->in_channels;
    for (int32_t n = 0; n < g->batch; n++, x += sample) {
        int32_t at[3];
        for (at[0] = 0; at[0] < g->axis[0].out; at[0]++) {
            for (at[1] = 0; at[1] < g->axis[1].out; at[1]++) {
                for (at[2] = 0; at[2] < g->axis[2].out; at[2]++, out += g->out_channels) {
                    td_conv_nd_pixel(g, done, x, w, at, out);
                }
            }
        }
    }
}
