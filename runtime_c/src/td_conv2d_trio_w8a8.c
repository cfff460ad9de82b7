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

/* Copy `span` columns from `column` on, with the zero point outside the row. */
static void td_stage(const td_window *restrict w, const int8_t *row, int32_t column, int32_t span, int32_t depth,
                     int8_t *to)
{
    for (int32_t i = 0; i < span; i++) {
        if (column < 0 || column >= w->in_width) {
            td_fill(to, w->zero_point, depth);
        } else {
            td_copy_row(to, row + column * w->in_channels, depth);
        }
        to += depth;
        column++;
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

/* All channels of a group from sums, window by window. */
TD_INLINE void td_by_sums(const td_conv2d_trio_params *restrict p, const uint32_t *windows, int32_t words,
                          const uint8_t *restrict weights, int8_t *out, const td_trio *restrict block, int exact)
{
    for (int32_t c = 0; c < block->channels; c++) {
        int32_t total[6] = {0, 0, 0, 0, 0, 0};
        const uint32_t *window = windows;
        int32_t taps = 0;
        for (int32_t rest = block->taps; rest > 0; rest -= taps) {
            int32_t sums[6];
            taps = rest < p->together ? rest : p->together;
            if (words == 4) {
                td_trio_sums6(window, weights, taps, sums);
            } else {
                td_trio_sums3(window, weights, taps, sums);
            }
            for (int32_t i = 0; i < block->pixels; i++) {
                total[i] += sums[i];
            }
            window += words * (taps + 1);
            weights += taps;
        }
        int8_t *to = out + c;
        for (int32_t i = 0; i < block->pixels; i++) {
            const int32_t y = exact ? td_requant_exact(total[i], (const td_exact *)block->requant + c, p->zero_point)
                                    : td_requant_affine(total[i], (const td_affine *)block->requant + c, p->shift);
            *to = (int8_t)td_clamp(y, p->act_min, p->act_max);
            to += block->distance;
        }
    }
}

enum { TD_AFFINE, TD_EXACT, TD_AFFINE_SUMS, TD_EXACT_SUMS };

TD_INLINE void td_conv2d_row(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                             const uint8_t *restrict weights, const void *restrict requant, int8_t *out,
                             uint32_t *scratch, int form)
{
    const td_window *const w = &p->window;
    const int exact = form == TD_EXACT || form == TD_EXACT_SUMS;
    const int32_t depth = w->in_channels / p->groups;
    td_trio block = {requant, w->kernel_h * w->kernel_w * depth, p->out_channels / p->groups, p->out_channels, 0, 0};
    block.constant = exact ? 2 * p->zero_point + 1 : 10 + p->shift;
    for (int32_t x = 0; x < p->out_width; x += 6) {
        const int32_t left = p->out_width - x;
        const int32_t words = left > 3 ? 4 : 2;
        block.pixels = left < 6 ? left : 6;
        for (int32_t group = 0; group < p->groups; group++) {
            const int32_t channel = group * block.channels;
            const uint8_t *const mine = weights + channel * block.taps;
            int8_t *const to = out + channel;
            block.requant = exact ? (const void *)((const td_exact *)requant + channel)
                                  : (const void *)((const td_affine *)requant + channel);
            td_gather(p, rows, x * w->stride - w->pad_left, group * depth, words, scratch);
            if (form == TD_AFFINE_SUMS || form == TD_EXACT_SUMS) {
                td_by_sums(p, scratch, words, mine, to, &block, exact);
            } else if (words == 4) {
                (exact ? td_trio_exact6 : td_trio_affine6)(scratch, mine, to, &block);
            } else {
                (exact ? td_trio_exact3 : td_trio_affine3)(scratch, mine, to, &block);
            }
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

void td_conv2d_trio_w8a8_exact(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                               const uint8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                               uint32_t *scratch)
{
    td_conv2d_row(p, rows, weights, requant, out, scratch, TD_EXACT);
}

void td_conv2d_trio_w8a8_sums(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                              const uint8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                              uint32_t *scratch)
{
    td_conv2d_row(p, rows, weights, requant, out, scratch, TD_AFFINE_SUMS);
}

void td_conv2d_trio_w8a8_exact_sums(const td_conv2d_trio_params *restrict p, const int8_t *const *rows,
                                    const uint8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                                    uint32_t *scratch)
{
    td_conv2d_row(p, rows, weights, requant, out, scratch, TD_EXACT_SUMS);
}
