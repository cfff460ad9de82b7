/* td_depthwise_nd_body.h - the loops of td_depthwise_nd_*.c, which say before including it what a number is: see
 * td_conv_nd_body.h. Each sum goes tap after tap in rising order. Four channels go together where each has one output.
 */
#include "td_axes.h"

/* Taps begin..end - 1 of a row for 1 or 4 channels; `x` is what the first of them reads, `w` its weight. */
TD_INLINE void td_depthwise_nd_run(const td_done *restrict done, const TD_X *x, const TD_W *w, int32_t x_step,
                                   int32_t w_step, int32_t taps, int32_t channels, TD_SUM *restrict sum)
{
    TD_SUM s0 = sum[0];
    (void)done;
    if (channels == 1) {
        for (; taps > 0; taps--, x += x_step, w += w_step) {
            s0 = TD_MAC(done, s0, x[0], w[0]);
        }
    } else {
        TD_SUM s1 = sum[1];
        TD_SUM s2 = sum[2];
        TD_SUM s3 = sum[3];
        for (; taps > 0; taps--, x += x_step, w += w_step) {
            s0 = TD_MAC(done, s0, x[0], w[0]);
            s1 = TD_MAC(done, s1, x[1], w[1]);
            s2 = TD_MAC(done, s2, x[2], w[2]);
            s3 = TD_MAC(done, s3, x[3], w[3]);
        }
        sum[1] = s1;
        sum[2] = s2;
        sum[3] = s3;
    }
    sum[0] = s0;
}

/* A position of the output: its row, and which taps along the width lie inside the input, from which column on. */
typedef struct {
    int32_t row;
    int32_t begin;
    int32_t end;
    int32_t column;
} td_depthwise_place;

/* The outputs of 1 or 4 channels at a position; `x` and `w` are those of the first channel. */
TD_INLINE void td_depthwise_nd_outputs(const td_axes *restrict g, const td_done *restrict done,
                                       const td_depthwise_place *restrict at, const TD_X *x, const TD_W *w,
                                       int32_t channel, int32_t channels, TD_Y *restrict out)
{
    TD_SUM sum[4] = {0, 0, 0, 0};
    const td_axis *const width = &g->axis[2];
    w += at->begin * g->out_channels;
    x += at->column * g->in_channels;
    for (int32_t i = 0; i < g->axis[1].taps; i++, w += width->taps * g->out_channels) {
        const int32_t line = td_axis_at(&g->axis[1], at->row, i);
        if (line >= 0) {
            td_depthwise_nd_run(done, x + line * width->in * g->in_channels, w, width->tap * g->in_channels,
                                g->out_channels, at->end - at->begin, channels, sum);
        }
    }
    out[0] = td_finish(done, channel, sum[0]);
    if (channels == 4) {
        out[1] = td_finish(done, channel + 1, sum[1]);
        out[2] = td_finish(done, channel + 2, sum[2]);
        out[3] = td_finish(done, channel + 3, sum[3]);
    }
}

/* All channels at a position. */
static void td_depthwise_nd_pixel(const td_axes *restrict g, const td_done *restrict done,
                                  const td_depthwise_place *restrict at, const TD_X *x, const TD_W *w, TD_Y *out)
{
    const int32_t multiplier = g->out_channels / g->in_channels;
    int32_t channel = 0;
    for (; multiplier == 1 && g->out_channels - channel >= 4; channel += 4) {
        td_depthwise_nd_outputs(g, done, at, x + channel, w + channel, channel, 4, out + channel);
    }
    for (; channel < g->out_channels; channel++) {
        td_depthwise_nd_outputs(g, done, at, x + channel / multiplier, w + channel, channel, 1, out + channel);
    }
}

static void td_depthwise_nd(const td_axes *restrict g, const td_done *restrict done, const TD_X *x, const TD_W *w,
                            TD_Y *out)
{
    const td_axis *const width = &g->axis[2];
    const int32_t sample = g->axis[1].in * width->in * g->in_channels;
    for (int32_t n = 0; n < g->batch; n++, x += sample) {
        td_depthwise_place at;
        for (at.row = 0; at.row < g->axis[1].out; at.row++) {
            for (int32_t column = 0; column < width->out; column++, out += g->out_channels) {
                at.begin = 0;
                while (at.begin < width->taps && td_axis_at(width, column, at.begin) < 0) {
                    at.begin++;
                }
                at.end = width->taps;
                while (at.end > at.begin && td_axis_at(width, column, at.end - 1) < 0) {
                    at.end--;
                }
                at.column = at.begin < at.end ? td_axis_at(width, column, at.begin) : 0;
                td_depthwise_nd_pixel(g, done, &at, x, w, out);
            }
        }
    }
}
