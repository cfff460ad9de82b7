/* td_softmax_s16.c - plain C. */
#include "td_softmax_s16.h"

#include "td_requant.h"
#include "td_sigmoid_s16.h"

/* Writes the exponentials of a line to `out` and returns their sum, Q16.15. */
static int32_t td_exponentials(const td_softmax_s16_params *restrict p, const int16_t *restrict exp_table,
                               const int16_t *in, int16_t *out)
{
    int32_t max = -32768;
    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t x = in[i * p->inner];
        max = x > max ? x : max;
    }
    int32_t sum = 0;
    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t difference = td_multiply_double(in[i * p->inner] - max, p->multiplier, p->shift);
        const int32_t y = td_interpolate(exp_table, td_clamp(td_add_wrap(difference, 32767), -32768, 32767));
        out[i * p->inner] = (int16_t)y;
        sum += y;
    }
    return sum;
}

static void td_line(const td_softmax_s16_params *restrict p, const int16_t *restrict exp_table,
                    const int16_t *restrict reciprocal_table, const int16_t *in, int16_t *out)
{
    uint32_t sum = (uint32_t)td_exponentials(p, exp_table, in, out);
    int32_t bits = 31; /* sum < 2^bits; the largest element adds 2^15 - 1 */
    while ((sum & 0x40000000U) == 0U) {
        sum <<= 1;
        bits--;
    }
    const int32_t fraction = (int32_t)((sum + (1U << 13)) >> 14) - (1 << 15) - (1 << 16);
    const int32_t scale = td_interpolate(reciprocal_table, td_clamp(fraction, -32768, 32767));
    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t product = out[i * p->inner] * scale;
        const int32_t y = (product + (1 << (bits - 2))) >> (bits - 1);
        out[i * p->inner] = (int16_t)td_clamp(y, 0, 32767);
    }
}

void td_softmax_s16(const td_softmax_s16_params *restrict p, const int16_t *restrict exp_table,
                    const int16_t *restrict reciprocal_table, const int16_t *in, int16_t *out)
{
    const int32_t step = p->depth * p->inner;
    for (int32_t o = 0; o < p->outer; o++) {
        for (int32_t i = 0; i < p->inner; i++) {
            td_line(p, exp_table, reciprocal_table, in + i, out + i);
        }
        in += step;
        out += step;
    }
}
