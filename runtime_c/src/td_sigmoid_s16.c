/* td_sigmoid_s16.c - plain C. */
#include "td_sigmoid_s16.h"

static inline int32_t td_scaled(const td_sigmoid_s16_params *restrict p, int32_t x)
{
    return (x * p->multiplier + ((1 << p->shift) >> 1)) >> p->shift;
}

/* The table's value at `size` entries of 2^bits, 16 + bits bits; `top` where the table ends. */
static inline uint32_t td_between(const uint16_t *restrict table, uint32_t size, uint32_t bits, uint32_t top)
{
    const uint32_t entry = size >> bits;
    if (entry >= 255U) {
        return top;
    }
    const uint32_t low = table[entry];
    return (low << bits) + (size & ((1U << bits) - 1U)) * (table[entry + 1U] - low);
}

void td_logistic_s16(const td_sigmoid_s16_params *restrict p, const uint16_t *restrict table, const int16_t *in,
                     int16_t *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        const int32_t x = td_scaled(p, in[i]);
        const uint32_t y = td_between(table, (uint32_t)(x < 0 ? -x : x), 9U, 0x7FFFU << 10);
        out[i] = (int16_t)((x < 0 ? (1U << 25) - y + 511U : y + 512U) >> 10);
    }
}

void td_tanh_s16(const td_sigmoid_s16_params *restrict p, const uint16_t *restrict table, const int16_t *in,
                 int16_t *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        const int32_t x = td_scaled(p, in[i]);
        const int32_t y = (int32_t)td_between(table, (uint32_t)(x < 0 ? -x : x), 8U, 0xFFFFU << 8) - (1 << 23);
        out[i] = (int16_t)((x < 0 ? 127 - y : y + 128) >> 8);
    }
}

void td_lut_s16(const int16_t *restrict table, const int16_t *in, int32_t size, int16_t *out)
{
    for (int32_t i = 0; i < size; i++) {
        out[i] = (int16_t)td_interpolate(table, in[i]);
    }
}
