/* td_depthwise_nd_body.h - the loops of td_depthwise_nd_*.c, which say before including it what a number is: see
 * td_conv_nd_body.h. Each sum goes tap after tap in rising order. Four channels go together where each has one output.
 */
#include "td_axes.h"

/* The outputs of 1 or 4 channels at a position; `x` is the sample's first value of these channels. */
TD_INLINE void td_depthwise_nd_outputs(const td_axes *restrict g, const td_done *restrict done, const TD_X *x,
                                       const TD_W *w, int32_t row, int32_t column, int32_t channel, int32_t channels,
                                       TD_Y *restrict out)
{
    TD_SUM sum[4] = {0, 0, 0, 0};
    const td_axis *const width = &g->axis[2];
    for (int32_t i = 0; i < g->axis[1].taps; i++) {
        const int32_t line = td_axis_at(&g->axis[1], row, i);
        if (line < 0) {
            w += width->taps * g->out_channels;
            continue;
        }
        const TD_X *const from = x + line * width->in * g->in_channels;
        for (int32_t k = 0; k < width->taps; k++, w += g->out_channels) {
            const int32_t at = column * width->step + k * width->tap + width->first;
            if (at >= 0 && at < width->in) {
                const TD_X *const v = from + at * g->in_channels;
                for (int32_t j = 0; j < channels; j++) {
                    sum[j] = TD_MAC(done, sum[j], v[j], w[j]);
                }
            }
        }
    }
    for (int32_t j = 0; j < channels; j++) {
        out[j] = td_finish(done, channel + j, sum[j]);
    }
}

static void td_depthwise_nd(const td_axes *restrict g, const td_done *restrict done, const TD_X *x, const TD_W *w,
                            TD_Y *out)
{
    const int32_t multiplier = g->out_channels / g->in_channels;
    const int32_t sample = g->axis[1].in * g->axis[2].in * g->in_channels;
    for (int32_t n = 0; n < g->batch; n++, x += sample) {
        for (int32_t row = 0; row < g->axis[1].out; row++) {
            for (int32_t column = 0; column < g->axis[2].out; column++, out += g->out_channels) {
                int32_t channel = 0;
                for (; multiplier == 1 && g->out_channels - channel >= 4; channel += 4) {
                    td_depthwise_nd_outputs(g, done, x + channel, w + channel, row, column, channel, 4, out + channel);
                }
                for (; channel < g->out_channels; channel++) {
                    td_depthwise_nd_outputs(g, done, x + channel / multiplier, w + channel, row, column, channel, 1,
                                            out + channel);
                }
            }
        }
    }
}
