/* td_conv2d_w8a8_dsp.c - rows of a convolution: windows of two pixels into scratch, then the blocks of td_block_dsp.h.
 */
#include "td_conv2d_dsp.h"

#include "td_block_dsp.h"
#include "td_gather_dsp.h"

static inline int td_is_column(const td_conv2d_dsp_params *restrict p, int32_t column)
{
    return column >= 0 && column < p->in_width;
}

static inline int8_t *td_copy_columns(int8_t *to, const int8_t *from, int32_t size)
{
    for (int32_t i = 0; i < size; i++) {
        *to++ = from[i];
    }
    return to;
}

/* One kernel row of a window: where it lies, or a copy in `spare` if it is not in one piece. */
static const int8_t *td_collect(const td_conv2d_dsp_params *restrict p, const int8_t *row, const int8_t *pad,
                                int32_t left, int8_t *spare)
{
    const int32_t channels = p->in_channels;
    int8_t *to = spare;
    if (row == pad) {
        return pad;
    }
    if (p->dilation == 1) {
        const int32_t before = left < 0 ? (-left < p->kernel_w ? -left : p->kernel_w) : 0;
        const int32_t room = p->in_width - left;
        const int32_t until = room < p->kernel_w ? (room > before ? room : before) : p->kernel_w;
        if (until - before == p->kernel_w) {
            return row + left * channels;
        }
        to = td_copy_columns(to, pad, before * channels);
        to = td_copy_columns(to, row + (left + before) * channels, (until - before) * channels);
        td_copy_columns(to, pad, (p->kernel_w - until) * channels);
        return spare;
    }
    for (int32_t kx = 0; kx < p->kernel_w; kx++) {
        const int32_t column = left + kx * p->dilation;
        to = td_copy_columns(to, td_is_column(p, column) ? row + column * channels : pad, channels);
    }
    return spare;
}

/* Widen two windows of which one at least is not in one piece; `left`: their first columns. */
static TD_NOINLINE void td_gather_split(const td_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                                        const int8_t *restrict pad, const int32_t left[2], int16_t *windows,
                                        const td_gather_dsp *restrict whole, td_pointer *list)
{
    const int32_t size = p->kernel_w * p->in_channels;
    if (p->in_channels % 4 != 0) {
        int8_t *spare = (int8_t *)(list + 2 * p->kernel_h);
        for (int32_t i = 0; i < 2 * p->kernel_h; i++) {
            list[i] = td_collect(p, rows[i / 2], pad, left[i % 2], spare);
            spare += size;
        }
        td_gather_list_dsp(list, windows, whole);
        return;
    }
    td_gather_dsp run = *whole;
    for (int32_t kx = 0; kx < p->kernel_w;) {
        /* columns in which both windows are inside the row, or one, or none, as long as they lie together */
        const int inside0 = td_is_column(p, left[0] + kx * p->dilation);
        const int inside1 = td_is_column(p, left[1] + kx * p->dilation);
        int32_t columns = 1;
        while (p->dilation == 1 && kx + columns < p->kernel_w && td_is_column(p, left[0] + kx + columns) == inside0 &&
               td_is_column(p, left[1] + kx + columns) == inside1) {
            columns++;
        }
        const int32_t at0 = (left[0] + kx * p->dilation) * p->in_channels;
        const int32_t at1 = (left[1] + kx * p->dilation) * p->in_channels;
        for (int32_t ky = 0; ky < p->kernel_h; ky++) {
            const int8_t *const row = rows[ky];
            list[2 * ky] = inside0 && row != pad ? row + at0 : pad;
            list[2 * ky + 1] = inside1 && row != pad ? row + at1 : pad;
        }
        run.groups = columns * p->in_channels / 4;
        run.skip = (size - columns * p->in_channels) * 4;
        td_gather_list_dsp(list, windows + 2 * kx * p->in_channels, &run);
        kx += columns;
    }
}

static void td_clamp_s8(int8_t *x, int32_t size, int32_t low, int32_t high)
{
    for (int32_t i = 0; i < size; i++) {
        x[i] = (int8_t)(x[i] < low ? low : x[i] > high ? high : x[i]);
    }
}

/* How a layer is requantised, and whether its rows are odd, so that a last pixel is alone. */
enum { TD_EVEN, TD_ODD, TD_EXACT };

TD_INLINE const uint32_t *td_blocks(const int16_t *windows, const uint32_t *restrict stream, int8_t *out,
                                    const td_block_dsp *restrict block, int form, int32_t pixels)
{
    if (form == TD_EXACT) {
        return td_block_exact_dsp(windows, stream, out, block);
    }
    if (form == TD_ODD && pixels == 1) {
        return td_block_affine_one_dsp(windows, stream, out, block);
    }
    return td_block_affine_dsp(windows, stream, out, block);
}

TD_INLINE void td_conv2d_dsp_row(const td_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                                 const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                                 int16_t *scratch, int form)
{
    const int32_t channels = p->out_channels & ~1;
    const int32_t size = p->kernel_w * p->in_channels;
    const int32_t step = p->stride * p->in_channels;
    const int32_t last_left = p->dilation == 1 ? p->in_width - p->kernel_w : -1; /* of a window in one piece */
    int16_t *const rest_at = scratch + p->kernel_h * (size / 4) * 8;
    int16_t *const end = rest_at + (p->kernel_h * (size % 4) + 3) / 4 * 8;
    td_gather_dsp gather = {{0, 0}, pad, p->kernel_h, size / 4, 0, size % 4, rest_at};
    td_block_dsp block = {end - scratch < 16 ? 32 : (int32_t)(end - scratch) * 2, 0, 0, p->zero_point};
    const int three = p->kernel_w == 3 && p->stride == 1 && p->in_channels % 4 == 0;
    int32_t left[2] = {-p->pad_left, 0};
    for (int32_t x = 0; x < p->out_width; x += 2) {
        const int32_t pixels = p->out_width - x < 2 ? 1 : 2;
        left[1] = pixels == 2 ? left[0] + p->stride : left[0];
        if (left[0] >= 0 && left[1] <= last_left) {
            gather.offset[0] = left[0] * p->in_channels;
            gather.offset[1] = gather.offset[0] + (pixels == 2 ? step : 0);
            if (three && pixels == 2) {
                td_gather_three_dsp(rows, scratch, &gather, p->in_channels);
            } else {
                td_gather_rows_dsp(rows, scratch, &gather);
            }
        } else {
            td_gather_split(p, rows, pad, left, scratch, &gather, (td_pointer *)(void *)end);
        }
        block.distance = pixels == 2 ? p->out_channels : 0;
        block.channels = channels;
        const uint32_t *pair = stream;
        if (channels > 0) {
            pair = td_blocks(scratch, pair, out, &block, form, pixels);
        }
        if (channels != p->out_channels) {
            int8_t last[4];
            block.distance = 2;
            block.channels = 2;
            td_blocks(scratch, pair, last, &block, form, pixels);
            for (int32_t i = 0; i < pixels; i++) {
                out[i * p->out_channels + channels] = last[2 * i];
            }
        }
        if (p->act_min > -128 || p->act_max < 127) {
            td_clamp_s8(out, pixels * p->out_channels, p->act_min, p->act_max);
        }
        out += 2 * p->out_channels;
        left[0] += 2 * p->stride;
    }
}

void td_conv2d_w8a8_dsp(const td_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                        const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out, int16_t *scratch)
{
    td_conv2d_dsp_row(p, rows, stream, pad, out, scratch, TD_EVEN);
}

void td_conv2d_w8a8_dsp_odd(const td_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                            const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out, int16_t *scratch)
{
    td_conv2d_dsp_row(p, rows, stream, pad, out, scratch, TD_ODD);
}

void td_conv2d_w8a8_dsp_exact(const td_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                              const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                              int16_t *scratch)
{
    td_conv2d_dsp_row(p, rows, stream, pad, out, scratch, TD_EXACT);
}
