/* td_depthwise_columns_w8a8.c - plain C: any window, quicker where it is three columns wide with stride 1 or 2. */
#include "td_depthwise_columns.h"

typedef struct {
    const td_depthwise_columns_params *p;
    const void *requant; /* td_affine or td_exact records */
    int exact;
    int32_t pixels;   /* kept of the block */
    int32_t distance; /* of two pixels in the output */
} td_target;

/* Requantise the sums of one channel. */
TD_INLINE void td_store(const td_target *restrict t, const int32_t *restrict sums, int32_t channel, int8_t *out)
{
    const td_depthwise_columns_params *const p = t->p;
    const td_affine *const affine = (const td_affine *)t->requant + channel;
    const td_exact *const exact = (const td_exact *)t->requant + channel;
    for (int32_t i = 0; i < t->pixels; i++) {
        const int32_t y =
            t->exact ? td_requant_exact(sums[i], exact, p->zero_point) : td_requant_affine(sums[i], affine, p->shift);
        *out = (int8_t)td_clamp(y, p->act_min, p->act_max);
        out += t->distance;
    }
}

/* All channels of a block whose window has three columns. */
TD_INLINE void td_block_of_3(const td_target *restrict t, const int8_t *const *table, const int8_t *restrict w,
                             int8_t *out, int32_t stride)
{
    const td_window *const window = &t->p->window;
    for (int32_t c = 0; c < window->in_channels; c++) {
        const int8_t *const *column = table;
        int32_t s0 = 0;
        int32_t s1 = 0;
        int32_t s2 = 0;
        int32_t s3 = 0;
        for (int32_t ky = 0; ky < window->kernel_h; ky++) {
            const int32_t w0 = w[0];
            const int32_t w1 = w[1];
            const int32_t w2 = w[2];
            s0 += column[0][c] * w0 + column[1][c] * w1 + column[2][c] * w2;
            s1 += column[stride][c] * w0 + column[stride + 1][c] * w1 + column[stride + 2][c] * w2;
            s2 += column[2 * stride][c] * w0 + column[2 * stride + 1][c] * w1 + column[2 * stride + 2][c] * w2;
            s3 += column[3 * stride][c] * w0 + column[3 * stride + 1][c] * w1 + column[3 * stride + 2][c] * w2;
            column += 3 * stride + 3;
            w += 3;
        }
        const int32_t sums[4] = {s0, s1, s2, s3};
        td_store(t, sums, c, out + c);
    }
}

/* All channels of a block with any window. */
TD_INLINE void td_block_of_any(const td_target *restrict t, const int8_t *const *table, const int8_t *restrict w,
                               int8_t *out)
{
    const td_window *const window = &t->p->window;
    const int32_t stride = window->stride;
    const int32_t rest = 3 * stride + 1 - window->dilation; /* from behind the last tap to the next row */
    for (int32_t c = 0; c < window->in_channels; c++) {
        const int8_t *const *column = table;
        int32_t sums[4] = {0, 0, 0, 0};
        for (int32_t ky = 0; ky < window->kernel_h; ky++) {
            for (int32_t kx = 0; kx < window->kernel_w; kx++) {
                const int32_t weight = *w++;
                sums[0] += column[0][c] * weight;
                sums[1] += column[stride][c] * weight;
                sums[2] += column[2 * stride][c] * weight;
                sums[3] += column[3 * stride][c] * weight;
                column += window->dilation;
            }
            column += rest;
        }
        td_store(t, sums, c, out + c);
    }
}

TD_INLINE void td_columns(const td_depthwise_columns_params *restrict p, const int8_t *const *rows,
                          const int8_t *restrict weights, const void *restrict requant, int8_t *out,
                          const int8_t **table, int exact)
{
    const td_window *const w = &p->window;
    const int32_t columns = 3 * w->stride + (w->kernel_w - 1) * w->dilation + 1;
    const int by_3 = w->kernel_w == 3 && w->dilation == 1 && w->stride <= 2;
    int32_t left = -w->pad_left;
    for (int32_t x = 0; x < p->out_width; x += 4) {
        const int32_t pixels = p->out_width - x < 4 ? p->out_width - x : 4;
        const td_target target = {p, requant, exact, pixels, w->in_channels};
        const int8_t **entry = table;
        for (int32_t ky = 0; ky < w->kernel_h; ky++) {
            for (int32_t i = left; i < left + columns; i++) {
                *entry++ = i < 0 || i >= w->in_width ? p->zeros : rows[ky] + i * w->in_channels;
            }
        }
        if (!by_3) {
            td_block_of_any(&target, table, weights, out);
        } else if (w->stride == 1) {
            td_block_of_3(&target, table, weights, out, 1);
        } else {
            td_block_of_3(&target, table, weights, out, 2);
        }
        out += 4 * w->in_channels;
        left += 4 * w->stride;
    }
}

void td_depthwise_columns_w8a8(const td_depthwise_columns_params *restrict p, const int8_t *const *rows,
                               const int8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                               const int8_t **scratch)
{
    td_columns(p, rows, weights, requant, out, scratch, 0);
}

void td_depthwise_columns_w8a8_exact(const td_depthwise_columns_params *restrict p, const int8_t *const *rows,
                                     const int8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                                     const int8_t **scratch)
{
    td_columns(p, rows, weights, requant, out, scratch, 1);
}
