/* td_depthwise_groups_w8a8.c - plain C around the blocks of td_columns.c. */
#include "td_depthwise_groups.h"

/* The block from output column x on; its table is written to `table`. */
static td_columns td_prepare(const td_depthwise_groups_params *restrict p, const int8_t *const *rows, int32_t x,
                             const int8_t **table)
{
    const td_window *const w = &p->window;
    const int32_t rest = p->out_width - x;
    const int32_t pixels = rest < p->block ? rest : p->block;
    const int32_t columns = (pixels - 1) * w->stride + 3;
    const int32_t channels = w->in_channels;
    for (int32_t ky = 0; ky < w->kernel_h; ky++) {
        int32_t left = x * w->stride - w->pad_left;
        for (int32_t group = 0; group < p->groups; group++) {
            for (int32_t i = left; i < left + columns; i++) {
                *table++ = i < 0 || i >= w->in_width ? p->zeros : rows[ky] + i * channels;
            }
            left += 3;
        }
    }
    return (td_columns){table, channels, p->zero_point, pixels};
}

static void td_complete(const td_depthwise_groups_params *restrict p, const td_columns *restrict block, int8_t *out)
{
    if (p->act_min > -128 || p->act_max < 127) {
        td_limit(out, block->pixels * block->channels, p->act_min, p->act_max);
    }
}

void td_depthwise_groups_s1_w8a8(const td_depthwise_groups_params *restrict p, const int8_t *const *rows,
                                 const int8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                                 const int8_t **scratch)
{
    for (int32_t x = 0; x < p->out_width; x += p->block) {
        const td_columns block = td_prepare(p, rows, x, scratch);
        td_columns_s1_affine(scratch, weights, out, &block, requant);
        td_complete(p, &block, out);
        out += p->block * block.channels;
    }
}

void td_depthwise_groups_s1_w8a8_exact(const td_depthwise_groups_params *restrict p, const int8_t *const *rows,
                                       const int8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                                       const int8_t **scratch)
{
    for (int32_t x = 0; x < p->out_width; x += p->block) {
        const td_columns block = td_prepare(p, rows, x, scratch);
        td_columns_s1_exact(scratch, weights, out, &block, requant);
        td_complete(p, &block, out);
        out += p->block * block.channels;
    }
}

void td_depthwise_groups_s2_w8a8(const td_depthwise_groups_params *restrict p, const int8_t *const *rows,
                                 const int8_t *restrict weights, const td_affine *restrict requant, int8_t *out,
                                 const int8_t **scratch)
{
    for (int32_t x = 0; x < p->out_width; x += p->block) {
        const td_columns block = td_prepare(p, rows, x, scratch);
        td_columns_s2_affine(scratch, weights, out, &block, requant);
        td_complete(p, &block, out);
        out += p->block * block.channels;
    }
}

void td_depthwise_groups_s2_w8a8_exact(const td_depthwise_groups_params *restrict p, const int8_t *const *rows,
                                       const int8_t *restrict weights, const td_exact *restrict requant, int8_t *out,
                                       const int8_t **scratch)
{
    for (int32_t x = 0; x < p->out_width; x += p->block) {
        const td_columns block = td_prepare(p, rows, x, scratch);
        td_columns_s2_exact(scratch, weights, out, &block, requant);
        td_complete(p, &block, out);
        out += p->block * block.channels;
    }
}
