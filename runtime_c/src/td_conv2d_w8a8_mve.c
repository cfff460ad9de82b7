/* td_conv2d_w8a8_mve.c - rows of a convolution: windows of four pixels into scratch, then blocks of td_block_mve.h. */
#include "td_conv2d_mve.h"

#include "td_block_mve.h"

/* Copy `columns` columns of every kernel row, from tap column `kx` on, for pixels whose input column is `column`. */
static void td_spread_columns(const int8_t *const *rows, int8_t *windows, td_spread_mve_t *spread, int32_t channels,
                              int32_t kx, int32_t column, int32_t columns, int32_t pixels)
{
    const int32_t size = spread->end - spread->at;
    spread->at = kx * channels;
    spread->end = spread->at + size;
    spread->offset = column * channels;
    spread->taps = columns * channels;
    spread->pixels = pixels;
    if (columns > 0) {
        td_spread_mve(rows, windows, spread);
    }
}

/* Make the windows of `pixels` pixels, the first of which begins in input column `left`. */
static void td_gather(const td_conv2d_mve_params *restrict p, const int8_t *const *rows, const int8_t *restrict pad,
                      int32_t left, int32_t pixels, int8_t *windows)
{
    const int32_t channels = p->in_channels;
    const int32_t size = p->kernel_w * channels;
    td_spread_mve_t spread = {0, p->stride * channels, 0, 0, size, p->kernel_h * size, 0, pad};
    const int32_t last = left + (pixels - 1) * p->stride + (p->kernel_w - 1) * p->dilation;
    if (p->dilation == 1 && left >= 0 && last < p->in_width) {
        td_spread_columns(rows, windows, &spread, channels, 0, left, p->kernel_w, pixels);
        return;
    }
    for (int32_t i = 0; i < pixels; i++, left += p->stride, windows += 16) {
        if (p->dilation != 1) {
            for (int32_t kx = 0; kx < p->kernel_w; kx++) {
                const int32_t column = left + kx * p->dilation;
                const int inside = column >= 0 && column < p->in_width;
                td_spread_columns(inside ? rows : NULL, windows, &spread, channels, kx, column, 1, 1);
            }
            continue;
        }
        const int32_t before = left < 0 ? (-left < p->kernel_w ? -left : p->kernel_w) : 0;
        const int32_t room = p->in_width - left;
        const int32_t until = room < p->kernel_w ? (room > before ? room : before) : p->kernel_w;
        td_spread_columns(NULL, windows, &spread, channels, 0, 0, before, 1);
        td_spread_columns(rows, windows, &spread, channels, before, left + before, until - before, 1);
        td_spread_columns(NULL, windows, &spread, channels, until, 0, p->kernel_w - until, 1);
    }
}

static void td_clamp_s8(int8_t *x, int32_t size, int32_t low, int32_t high)
{
    for (int32_t i = 0; i < size; i++) {
        x[i] = (int8_t)(x[i] < low ? low : x[i] > high ? high : x[i]);
    }
}

static void td_place(td_block_mve *block, int32_t distance)
{
    for (int32_t i = 0; i < 4; i++) {
        block->offsets[2 * i] = (uint16_t)(i * distance);
        block->offsets[2 * i + 1] = (uint16_t)(i * distance + 1);
    }
}

void td_conv2d_w8a8_mve(const td_conv2d_mve_params *restrict p, const int8_t *const *rows,
                        const int32_t *restrict stream, const int8_t *restrict pad, int8_t *out, int8_t *scratch)
{
    const int32_t taps = p->kernel_h * p->kernel_w * p->in_channels;
    const int32_t channels = p->out_channels & ~1;
    td_block_mve block = {(taps + 15) / 16 * 64, 0, p->zero_point, {0}, 0};
    for (int32_t x = 0; x < p->out_width; x += 4) {
        const int32_t pixels = p->out_width - x < 4 ? p->out_width - x : 4;
        const int32_t *pair = stream;
        block.lanes = (1U << (4 * pixels)) - 1U;
        td_gather(p, rows, pad, x * p->stride - p->pad_left, pixels, scratch);
        if (channels > 0) {
            td_place(&block, p->out_channels);
            block.channels = channels;
            pair = td_block_exact_mve(scratch, pair, out, &block);
        }
        if (channels != p->out_channels) {
            int8_t odd[8];
            td_place(&block, 2);
            block.channels = 2;
            td_block_exact_mve(scratch, pair, odd, &block);
            for (int32_t i = 0; i < pixels; i++) {
                out[i * p->out_channels + channels] = odd[2 * i];
            }
        }
        if (p->act_min > -128 || p->act_max < 127) {
            td_clamp_s8(out, pixels * p->out_channels, p->act_min, p->act_max);
        }
        out += 4 * p->out_channels;
    }
}
