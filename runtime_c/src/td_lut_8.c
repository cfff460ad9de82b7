/* td_lut_8.c - plain C. */
#include "td_lut.h"

void td_lut_8(const uint8_t *restrict table, const void *in, int32_t size, void *out)
{
    const uint8_t *x = in;
    uint8_t *y = out;
    for (const uint8_t *const end = x + size; x != end; x++) {
        *y++ = table[*x];
    }
}

void td_lut_8_blocks(const td_blocks *restrict p, const uint8_t *restrict table, const void *in, void *out)
{
    const uint8_t *x = (const uint8_t *)in + p->in_offset;
    uint8_t *y = (uint8_t *)out + p->out_offset;
    for (int32_t i = 0; i < p->count; i++) {
        td_lut_8(table, x, p->size, y);
        x += p->in_step;
        y += p->out_step;
    }
}
