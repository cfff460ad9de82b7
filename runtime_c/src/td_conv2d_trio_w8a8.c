/* td_conv2d_trio_w8a8.c - plain C around the blocks of td_trio.h: any kernel, stride, dilation, groups. */
#include "td_conv2d_trio.h"

/* Windows of a block being filled. */
typedef struct {
    const td_conv2d_trio_params *p;
    td_trio_packer packer;
    uint32_t *start; /* of the current window */
    int32_t left;    /* taps it still takes */
    int32_t words;   /* a tap: 4 for six pixels, 2 for three */
} td_filler;

static void td_open(td_filler *restrict f, uint32_t *to)
{
    f->start = to;
    f->packer.to = to + f->words;
    f->left = f->p->together;
    for (int32_t i = 0; i < 4; i++) {
        f->packer.starts[i] = 0;
    }
}

static void td_close(const td_filler *restrict f)
{
    for (int32_t i = 0; i < f->words; i++) {
        f->start[i] = 0U - 128U * f->packer.starts[i];
    }
}

/* Append taps; x is the first pixel's. */
static void td_append(td_filler *restrict f, const int8_t *x, int32_t taps)
{
    while (taps > 0) {
        if (f->left == 0) {
            td_close(f);
            td_open(f, f->packer.to);
        }
        const int32_t now = taps < f->left ? taps : f->left;
        if (f->words == 4) {
            td_trio_pack6(x, now, &f->packer);
        } else {
            td_trio_pack3(x, now, &f->packer);
        }
        f->left -= now;
        taps -= now;
        x += now;
    }
}

static void td_move(int8_t *to, const int8_t *from, int32_t size)
{
    if (((uintptr_t)to | (uintptr_t)from | (uintptr_t)size) % 4 == 0) {
        td_word *word = (td_word *)(void *)to;
        const td_word *source = (const td_word *)(const void *)from;
        for (const td_word *const end = source + size / 4; source != end;) {
            *word++ = *source++;
        }
    } else {
        td_copy_row(to, from, size);
    }
}

/* Copy `depth` channels of `span` columns from `column` on, with the zero point outside the row. */
static void td_stage(const td_window *restrict w, const int8_t *row, int32_t column, int32_t span, int32_t depth,
                     int8_t *to)
{
    const int32_t begin = td_clamp(-column, 0, span);
    const int32_t end = td_clamp(w->in_width - column, begin, span);
    td_fill(to, w->zero_point, begin * depth);
    td_fill(to + end * depth, w->zero_point, (span - end) * depth);
    if (depth == w->in_channels) {
        td_move(to + begin * depth, row + (column + begin) * depth, (end - begin) * depth);
    } else {
        for (int32_t i = begin; i < end; i++) {
            td_copy_row(to + i * depth, row + (column + i) * w->in_channels, depth);
        }
    }
}

/* Pack the windows of the pixels whose first column is `left`, `first` being the first channel of the group. */
static void td_gather(const td_conv2d_trio_params *restrict p, const int8_t *const *rows, int32_t left, int32_t first,
                      int32_t words, uint32_t *scratch)
{
    const td_window *const w = &p->window;
    const int32_t depth = w->in_channels / p->groups;
    const int32_t span = (words / 2 * 3 - 1) * w->stride + (w->kernel_w - 1) * w->dilation + 1;
    const int inside = left >= 0 && left + span <= w->in_width;
    const int32_t column = inside ? w->in_channels : depth;
    const int32_t together = column == depth && w->dilation == 1 ? w->kernel_w : 1;
    int8_t *const stage = (int8_t *)(scratch + p->stage);
    td_filler f;
    f.p = p;
    f.words = words;
    f.packer.distance = w->stride * column;
    td_open(&f, scratch);
    for (int32_t ky = 0; ky < w->kernel_h; ky++) {
        const int8_t *from = stage;
        if (inside) {
            from = rows[ky] + first + left * column;
        } else {
            td_stage(w, rows[ky] + first, left, span, depth, stage);
        }
        for (int32_t kx = 0; kx < w->kernel_w; kx += together) {
            td_append(&f, from + kx * w->dilation * column, together * depth);
        }
    }
    td_close(&f);
}

enum { TD_SHORT, TD_AFFINE, TD_EXACT, TD_AFFINE_WINDOWS, TD_EXACT_WINDOWS };

TD_INLINE void td_block_of_6(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out,
                             const td_trio *restrict block, int form)
{
    if (form == TD_SHORT) {
        td_trio_short6(windows, weights, out, block);
    } else if (form == TD_AFFINE) {
        td_trio_affine6(windows, weights, out, block);
    } else if (form == TD_EXACT) {
        td_trio_exact6(windows, weights, out, block);
    } else if (form == TD_AFFINE_WINDOWS) {
        td_trio_affine6_windows(windows, weights, out, block);
    } else {
        td_trio_exact6_windows(windows, weights, out, block);
    }
}

TD_INLINE void td_block_of_3(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out,
                             const td_trio *restrict block, int form)
{
    if (form == TD_SHORT) {
        td_trio_short3(windows, weights, out, block);
    } else if (form == TD_AFFINE) {
        td_trio_affine3(windows, weights, out, block);
    } else if (form == TD_EXACT) {
        td_trio_exact3(windows, weights, out, block);
    } else if (form == TD_AFFINE_WINDOWS) {
        td_trio_affine3_windows(windows, weights, out, block);
    } else {
        td_trio_exact3_windows(windows, weights, out, block);
    }
}

TD_INLINE void td_conv2d_row(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                             const uint8_t *restrict weights, const void *restrict requant, int8_t *out,
                             uint32_t *scratch, int form)
{
    const td_window *const w = &p->window;
    const int32_t depth = w->in_channels / p->groups;
    const int32_t taps = w->kernel_h * w->kernel_w * depth;
    td_trio block = {requant, p->together, p->out_channels / p->groups, p->out_channels, 0, p->constant, 1, p->part};
    block.windows = taps / p->together;
    for (int32_t x = 0; x < p->out_width; x += 6) {
        const int32_t left = p->out_width - x;
        const int32_t words = left > 3 ? 4 : 2;
        const int32_t first = left < 6 ? p->out_width - words / 2 * 3 : x; /* a last block ends with the row */
        block.pixels = left < 6 ? left : 6;
        for (int32_t group = 0; group < p->groups; group++) {
            const int32_t channel = group * block.channels;
            const uint8_t *const mine = weights + channel * taps;
            int8_t *const to = out + channel;
            block.requant = form == TD_EXACT || form == TD_EXACT_WINDOWS
                                ? (const void *)((const td_exact *)requant + channel)
                                : (const void *)((const td_affine *)requant + channel);
            td_gather(p, rows, first * w->stride - w->pad_left, group * depth, words, scratch);
            if (words == 4) {
                td_block_of_6(scratch, mine, to, &block, form);
            } else {
                td_block_of_3(scratch, mine, to, &block, form);
            }
        }
        if (p->act_min > -128 || p->act_max < 127) {
            td_limit(out, block.pixels * p->out_channels, p->act_min, p->act_max);
        }
        out += 6 * p->out_channels;
    }
}

void td_conv2d_trio_w8a8(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                         const uint8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                         uint32_t *scratch)
{
    td_conv2d_row(p, rows, weights, requant, out, scratch, TD_AFFINE);
}

void td_conv2d_trio_w8a8_short(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                               const uint8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                               uint32_t *scratch)
{
    td_conv2d_row(p, rows, weights, requant, out, scratch, TD_SHORT);
}

void td_conv2d_trio_w8a8_exact(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                               const uint8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                               uint32_t *scratch)
{
    td_conv2d_row(p, rows, weights, requant, out, scratch, TD_EXACT);
}

void td_conv2d_trio_w8a8_windows(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                                 const uint8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                                 uint32_t *scratch)
{
    td_conv2d_row(p, rows, weights, requant, out, scratch, TD_AFFINE_WINDOWS);
}

void td_conv2d_trio_w8a8_exact_windows(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                                       const uint8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                                       uint32_t *scratch)
{
    td_conv2d_row(p, rows, weights, requant, out, scratch, TD_EXACT_WINDOWS);
}
