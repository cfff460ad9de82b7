/* td_depthwise_conv2d_w8a8.c - plain C: any kernel, stride, dilation and multiplier. */
#include "td_depthwise_conv2d.h"

TD_INLINE int8_t td_finish(const td_depthwise_conv2d_params *restrict p, const void *restrict requant, int32_t channel,
                           int32_t sum, int exact)
{
    const int32_t y = exact ? td_requant_exact(sum, (const td_exact *)requant + channel, p->zero_point)
                            : td_requant_affine(sum, (const td_affine *)requant + channel, p->shift);
    return (int8_t)td_clamp(y, p->act_min, p->act_max);
}

/* All channels of a column whose window may reach over the ends of the row. */
TD_INLINE void td_border_pixel(const td_depthwise_conv2d_params *restrict p, const int8_t *const *rows,
                               const int8_t *restrict w, const void *restrict requant, int32_t x, int8_t *out,
                               int exact)
{
    const td_window *const window = &p->window;
    const int32_t left = x * window->stride - window->pad_left;
    int32_t channel = 0;
    for (int32_t c = 0; c < window->in_channels; c++) {
        for (int32_t m = 0; m < p->multiplier; m++) {
            int32_t sum = 0;
            for (int32_t ky = 0; ky < window->kernel_h; ky++) {
                int32_t column = left;
                for (int32_t kx = 0; kx < window->kernel_w; kx++) {
                    const int inside = column >= 0 && column < window->in_width;
                    sum += *w++ * (inside ? rows[ky][column * window->in_channels + c] : window->zero_point);
                    column += window->dilation;
                }
            }
            *out++ = td_finish(p, requant, channel, sum, exact);
            channel++;
        }
    }
}

/* All channels of four columns whose windows lie inside the row. */
TD_INLINE void td_inner_pixels(const td_depthwise_conv2d_params *restrict p, const int8_t *const *rows,
                               const int8_t *restrict w, const void *restrict requant, int32_t x, int8_t *out,
                               int exact)
{
    const td_window *const window = &p->window;
    const int32_t first = (x * window->stride - window->pad_left) * window->in_channels;
    const int32_t step = window->stride * window->in_channels;
    const int32_t tap = window->dilation * window->in_channels;
    const int32_t out_channels = window->in_channels * p->multiplier;
    int32_t channel = 0;
    for (int32_t c = 0; c < window->in_channels; c++) {
        for (int32_t m = 0; m < p->multiplier; m++) {
            int32_t sum[4] = {0, 0, 0, 0};
            for (int32_t ky = 0; ky < window->kernel_h; ky++) {
                const int8_t *in = rows[ky] + first + c;
                for (int32_t kx = 0; kx < window->kernel_w; kx++) {
                    const int32_t weight = *w++;
                    sum[0] += weight * in[0];
                    sum[1] += weight * in[step];
                    sum[2] += weight * in[2 * step];
                    sum[3] += weight * in[3 * step];
                    in += tap;
                }
            }
            int8_t *to = out + channel;
            for (int32_t i = 0; i < 4; i++) {
                *to = td_finish(p, requant, channel, sum[i], exact);
                to += out_channels;
            }
            channel++;
        }
    }
}

TD_INLINE void td_depthwise_row(const td_depthwise_conv2d_params *restrict p, const int8_t *const *rows,
                                const int8_t *restrict w, const void *restrict requant, int8_t *out, int exact)
{
    const int32_t out_channels = p->window.in_channels * p->multiplier;
    int32_t x = 0;
    while (x < p->out_width) {
        if (x >= p->inner_begin && p->inner_end - x >= 4) {
            td_inner_pixels(p, rows, w, requant, x, out, exact);
            x += 4;
            out += 4 * out_channels;
        } else {
            td_border_pixel(p, rows, w, requant, x, out, exact);
            x++;
            out += out_channels;
        }
    }
}

void td_depthwise_conv2d_w8a8(const td_depthwise_conv2d_params *restrict p, const int8_t *const *rows,
                              const int8_t *restrict weights, const td_affine *restrict requant, int8_t *out)
{
    td_depthwise_row(p, rows, weights, requant, out, 0);
}

void td_depthwise_conv2d_w8a8_exact(const td_depthwise_conv2d_params *restrict p, const int8_t *const *rows,
                                    const int8_t *restrict weights, const td_exact *restrict requant, int8_t *out)
{
    td_depthwise_row(p, rows, weights, requant, out, 1);
}
