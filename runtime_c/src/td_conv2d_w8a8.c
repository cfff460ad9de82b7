/* td_conv2d_w8a8.c - plain C: any kernel, stride, dilation, groups. Blocks of two pixels by two output channels. */
#include "td_conv2d.h"

typedef struct {
    int32_t sum[2][2]; /* [pixel][channel] */
} td_block;

/* Dot products of two windows of `size` values with a pair of channels. */
static inline td_block td_dot_2x2(const int8_t *x0, const int8_t *x1, const int8_t *restrict w, int32_t size)
{
    int32_t a00 = 0;
    int32_t a01 = 0;
    int32_t a10 = 0;
    int32_t a11 = 0;
    for (const int8_t *end = x0 + size; x0 != end; w += 2) {
        const int32_t v0 = *x0++;
        const int32_t v1 = *x1++;
        a00 += v0 * w[0];
        a01 += v0 * w[1];
        a10 += v1 * w[0];
        a11 += v1 * w[1];
    }
    return (td_block){{{a00, a01}, {a10, a11}}};
}

TD_INLINE int8_t td_finish(const td_conv2d_params *restrict p, const void *restrict requant, int32_t channel,
                           int32_t sum, int exact)
{
    const int32_t y = exact ? td_requant_exact(sum, (const td_exact *)requant + channel, p->zero_point)
                            : td_requant_affine(sum, (const td_affine *)requant + channel, p->shift);
    return (int8_t)td_clamp(y, p->act_min, p->act_max);
}

TD_INLINE void td_conv2d_row(const td_conv2d_params *restrict p, const int8_t *const *rows,
                             const int8_t *restrict weights, const void *restrict requant, int8_t *out, int8_t *scratch,
                             int exact)
{
    const td_window *const window = &p->window;
    const int32_t depth = window->in_channels / p->groups;
    const int32_t per_group = p->out_channels / p->groups;
    const int32_t size = window->kernel_h * window->kernel_w * depth;
    const int32_t out_channels = p->out_channels;
    for (int32_t x = 0; x < p->out_width; x += 2) {
        const int32_t pixels = p->out_width - x < 2 ? 1 : 2;
        const int8_t *w = weights;
        for (int32_t group = 0; group < p->groups; group++) {
            for (int32_t i = 0; i < pixels; i++) {
                td_window_gather(window, rows, x + i, group * depth, depth, scratch + i * size);
            }
            for (int32_t o = 0; o < per_group; o += 2) {
                const td_block block = td_dot_2x2(scratch, scratch + (pixels - 1) * size, w, size);
                const int32_t channel = group * per_group + o;
                const int32_t channels = per_group - o < 2 ? 1 : 2;
                for (int32_t i = 0; i < pixels; i++) {
                    for (int32_t j = 0; j < channels; j++) {
                        out[i * out_channels + channel + j] =
                            td_finish(p, requant, channel + j, block.sum[i][j], exact);
                    }
                }
                w += 2 * size;
            }
        }
        out += 2 * out_channels;
    }
}

void td_conv2d_w8a8(const td_conv2d_params *restrict p, const int8_t *const *rows, const int8_t *restrict weights,
                    const td_affine *restrict requant, int8_t *out, int8_t *scratch)
{
    td_conv2d_row(p, rows, weights, requant, out, scratch, 0);
}

void td_conv2d_w8a8_exact(const td_conv2d_params *restrict p, const int8_t *const *rows, const int8_t *restrict weights,
                          const td_exact *restrict requant, int8_t *out, int8_t *scratch)
{
    td_conv2d_row(p, rows, weights, requant, out, scratch, 1);
}
