/* td_conv2d_pairs_w8a8.c - plain C around the blocks of td_pairs.c: any kernel, stride and dilation. */
#include "td_conv2d_pairs.h"

/* Pack the windows of columns x, x + step[0] ... (in output pixels) to `to`. */
static void td_gather(const td_conv2d_pairs_params *restrict p, const int8_t *const *rows, int32_t x,
                      const int32_t step[3], int32_t *to)
{
    const td_window *const w = &p->window;
    const int32_t left = x * w->stride - w->pad_left;
    const int32_t reach = step[2] * w->stride + (w->kernel_w - 1) * w->dilation;
    const int inside = left >= 0 && left + reach < w->in_width;
    const int32_t together = inside && w->dilation == 1 ? w->kernel_w : 1;
    for (int32_t ky = 0; ky < w->kernel_h; ky++) {
        for (int32_t kx = 0; kx < w->kernel_w; kx += together) {
            const int8_t *from[4];
            for (int32_t i = 0; i < 4; i++) {
                const int32_t column = left + kx * w->dilation + (i == 0 ? 0 : step[i - 1] * w->stride);
                const int outside = column < 0 || column >= w->in_width;
                from[i] = outside ? p->zeros : rows[ky] + column * w->in_channels;
            }
            to = td_pairs_pack(from, together * w->in_channels, to);
        }
    }
}

/* Windows of up to four pixels from column x on, and where their outputs are. */
static td_pairs td_prepare(const td_conv2d_pairs_params *restrict p, const int8_t *const *rows, int32_t x,
                           int32_t *scratch)
{
    const int32_t more = p->out_width - x - 1; /* pixels after the first */
    int32_t step[3];
    td_pairs block;
    for (int32_t i = 0; i < 3; i++) {
        step[i] = more > i ? i + 1 : more; /* what is missing is the last one again */
        block.distance[i] = step[i] * p->out_channels;
    }
    td_gather(p, rows, x, step, scratch);
    block.taps = p->window.kernel_h * p->window.kernel_w * p->window.in_channels;
    block.channels = p->out_channels & ~1;
    block.zero_point = p->zero_point;
    return block;
}

/* Change the block to the last channel alone, whose outputs go to last[0], [2], [4] and [6]. */
static void td_alone(td_pairs *block)
{
    block->channels = 2;
    for (int32_t i = 0; i < 3; i++) {
        block->distance[i] = 2 * (i + 1);
    }
}

/* What is left to do for the pixels from column x on: `last` holds the last channel where their number is odd. */
static void td_complete(const td_conv2d_pairs_params *restrict p, int32_t x, const int8_t *restrict last, int8_t *out)
{
    const int32_t channels = p->out_channels;
    const int32_t pixels = p->out_width - x < 4 ? p->out_width - x : 4;
    if ((channels & 1) != 0) {
        for (int32_t i = 0; i < pixels; i++) {
            out[i * channels + channels - 1] = last[2 * i];
        }
    }
    if (p->act_min > -128 || p->act_max < 127) {
        td_limit(out, pixels * channels, p->act_min, p->act_max);
    }
}

void td_conv2d_pairs_w8a8(const td_conv2d_pairs_params *restrict p, const int8_t *const *rows,
                          const int8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                          int32_t *scratch)
{
    const int32_t even = p->out_channels & ~1;
    for (int32_t x = 0; x < p->out_width; x += 4) {
        td_pairs block = td_prepare(p, rows, x, scratch);
        if (even != 0) {
            td_pairs_affine(scratch, weights, out, &block, requant);
        }
        int8_t last[8] = {0};
        if (even != p->out_channels) {
            td_alone(&block);
            td_pairs_affine(scratch, weights + even * block.taps, last, &block, requant + even);
        }
        td_complete(p, x, last, out);
        out += 4 * p->out_channels;
    }
}

void td_conv2d_pairs_w8a8_exact(const td_conv2d_pairs_params *restrict p, const int8_t *const *rows,
                                const int8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                                int32_t *scratch)
{
    const int32_t even = p->out_channels & ~1;
    for (int32_t x = 0; x < p->out_width; x += 4) {
        td_pairs block = td_prepare(p, rows, x, scratch);
        if (even != 0) {
            td_pairs_exact(scratch, weights, out, &block, requant);
        }
        int8_t last[8] = {0};
        if (even != p->out_channels) {
            td_alone(&block);
            td_pairs_exact(scratch, weights + even * block.taps, last, &block, requant + even);
        }
        td_complete(p, x, last, out);
        out += 4 * p->out_channels;
    }
}
