/* td_conv2d_w8a8_dsp.c - rows of a convolution: windows of two pixels into scratch, then the blocks of td_block_dsp.h.
 */
#include "td_conv2d_dsp.h"

#include "td_block_dsp.h"

/* Where the four taps of a group stand among the eight values of two pixels. */
static const int8_t td_tap_place[4] = {0, 4, 1, 5};

/* Columns `left` .. of one kernel row lie inside the input row, or the whole row is padding. */
static inline int td_is_inside(const td_conv2d_dsp_params *restrict p, int32_t left)
{
    return left >= 0 && left + p->kernel_w <= p->in_width;
}

/* The pixel of an input row, or padding. */
static inline const int8_t *td_pixel(const td_conv2d_dsp_params *restrict p, const int8_t *row, const int8_t *pad,
                                     int32_t column)
{
    return row == pad || column < 0 || column >= p->in_width ? pad : row + column * p->in_channels;
}

/* Copy one kernel row of a window that is not in one piece. */
static const int8_t *td_collect(const td_conv2d_dsp_params *restrict p, const int8_t *row, const int8_t *pad,
                                int32_t left, int8_t *to)
{
    for (int32_t kx = 0; kx < p->kernel_w; kx++) {
        const int8_t *const from = td_pixel(p, row, pad, left + kx * p->dilation);
        for (int32_t c = 0; c < p->in_channels; c++) {
            to[kx * p->in_channels + c] = from[c];
        }
    }
    return to;
}

/* Widen the windows whose first columns are left0 and left1; returns their size in bytes. */
static int32_t td_gather(const td_conv2d_dsp_params *restrict p, const int8_t *const *rows, const int8_t *restrict pad,
                         int32_t left0, int32_t left1, int16_t *windows)
{
    const int32_t size = p->kernel_w * p->in_channels;
    const int32_t groups = size / 4;
    const int32_t rest = size % 4;
    const int whole = p->dilation == 1;
    const int whole0 = whole && td_is_inside(p, left0);
    const int whole1 = whole && td_is_inside(p, left1);
    int16_t *const rest_at = windows + p->kernel_h * groups * 8;
    int8_t *const spare = (int8_t *)(rest_at + (p->kernel_h * rest + 3) / 4 * 8);
    int32_t leftover = 0;
    int16_t *to = windows;
    for (int32_t ky = 0; ky < p->kernel_h; ky++) {
        const int8_t *const row = rows[ky];
        const int8_t *x0 = row;
        const int8_t *x1 = row;
        if (row != pad) {
            if (whole0 && whole1) {
                x0 = row + left0 * p->in_channels;
                x1 = row + left1 * p->in_channels;
            } else if (p->in_channels % 4 == 0) {
                for (int32_t kx = 0; kx < p->kernel_w; kx++) {
                    to = td_widen2_dsp(td_pixel(p, row, pad, left0 + kx * p->dilation),
                                       td_pixel(p, row, pad, left1 + kx * p->dilation), to, p->in_channels / 4);
                }
                continue;
            } else {
                x0 = whole0 ? row + left0 * p->in_channels : td_collect(p, row, pad, left0, spare);
                x1 = whole1 ? row + left1 * p->in_channels : td_collect(p, row, pad, left1, spare + size);
            }
        }
        if (groups > 0) {
            to = td_widen2_dsp(x0, x1, to, groups);
        }
        for (int32_t i = size - rest; i < size; i++) {
            int16_t *const at = rest_at + leftover / 4 * 8 + td_tap_place[leftover % 4];
            at[0] = x0[i];
            at[2] = x1[i];
            leftover++;
        }
    }
    return (p->kernel_h * groups + (leftover + 3) / 4) * 16;
}

static void td_clamp_s8(int8_t *x, int32_t size, int32_t low, int32_t high)
{
    for (int32_t i = 0; i < size; i++) {
        x[i] = (int8_t)(x[i] < low ? low : x[i] > high ? high : x[i]);
    }
}

TD_INLINE void td_conv2d_dsp_row(const td_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                                 const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                                 int16_t *scratch, int exact)
{
    const int32_t channels = p->out_channels & ~1;
    int32_t left = -p->pad_left;
    for (int32_t x = 0; x < p->out_width; x += 2) {
        const int32_t pixels = p->out_width - x < 2 ? 1 : 2;
        const int32_t next = pixels == 2 ? left + p->stride : left;
        td_block_dsp block = {0, pixels == 2 ? p->out_channels : 0, channels, p->zero_point};
        block.window_bytes = td_gather(p, rows, pad, left, next, scratch);
        const uint32_t *pair = stream;
        if (channels > 0) {
            pair = exact ? td_block_exact_dsp(scratch, pair, out, &block)
                         : td_block_affine_dsp(scratch, pair, out, &block);
        }
        if (channels != p->out_channels) {
            int8_t last[4];
            block.distance = 2;
            block.channels = 2;
            if (exact) {
                td_block_exact_dsp(scratch, pair, last, &block);
            } else {
                td_block_affine_dsp(scratch, pair, last, &block);
            }
            for (int32_t i = 0; i < pixels; i++) {
                out[i * p->out_channels + channels] = last[2 * i];
            }
        }
        if (p->act_min > -128 || p->act_max < 127) {
            td_clamp_s8(out, pixels * p->out_channels, p->act_min, p->act_max);
        }
        out += 2 * p->out_channels;
        left = next + p->stride;
    }
}

void td_conv2d_w8a8_dsp(const td_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                        const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out, int16_t *scratch)
{
    td_conv2d_dsp_row(p, rows, stream, pad, out, scratch, 0);
}

void td_conv2d_w8a8_dsp_exact(const td_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                              const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                              int16_t *scratch)
{
    td_conv2d_dsp_row(p, rows, stream, pad, out, scratch, 1);
}
