/* td_sequence_lstm_s8.c - plain C. */
#include "td_sequence_lstm.h"

#include "td_fixed16.h"

void td_state_begin_s8(const int8_t *initial, int32_t size, int8_t *state)
{
    for (int32_t i = 0; i < size; i++) {
        state[i] = initial[i];
    }
}

void td_state_begin_s16(const int16_t *initial, int32_t size, int16_t *state)
{
    for (int32_t i = 0; i < size; i++) {
        state[i] = initial[i];
    }
}

/* Products of x with four rows of w, which share the loads of x. */
static void td_dots4_s8(int32_t *restrict sums, const int8_t *x, const int8_t *restrict w, int32_t size)
{
    int32_t a = 0;
    int32_t b = 0;
    int32_t c = 0;
    int32_t d = 0;
    for (int32_t k = 0; k < size; k++) {
        const int32_t value = x[k];
        a += value * w[k];
        b += value * w[size + k];
        c += value * w[2 * size + k];
        d += value * w[3 * size + k];
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
}

static int32_t td_limit16(int32_t x)
{
    return td_clamp(x, INT16_MIN, INT16_MAX);
}

/* Both sums of a gate in Q3.12, saturated one after the other. */
static int16_t td_sequence_lstm_gate(const td_sequence_lstm_params *restrict p, int32_t gate, int32_t from_x,
                                     int32_t from_h)
{
    const int32_t first = td_limit16(td_multiply_double(from_x, p->x_multiplier[gate], p->x_shift[gate]));
    const int32_t second = td_multiply_double(from_h, p->h_multiplier[gate], p->h_shift[gate]);
    return (int16_t)td_limit16(td_add_wrap(first, second));
}

/* One unit's new cell state and h from the sums of its gates, which lie `hidden` apart. */
static void td_sequence_lstm_unit(const td_sequence_lstm_params *restrict p, const int16_t *restrict sums, int16_t *c,
                                  int8_t *h)
{
    const int32_t i = td_sigmoid_q15(sums[0], 3);
    const int32_t f = td_sigmoid_q15(sums[p->hidden], 3);
    const int32_t g = td_tanh_q15(sums[2 * p->hidden], 3);
    const int32_t o = td_sigmoid_q15(sums[3 * p->hidden], 3);
    const int32_t kept = td_rounding_shift(f * *c, 15);
    int32_t cell = td_limit16(kept + td_rounding_shift(i * g, 30 - p->cell_bits));
    cell = p->clip > 0 ? td_clamp(cell, -p->clip, p->clip) : cell;
    const int32_t y = td_multiply_double(o * td_tanh_q15(cell, 15 - p->cell_bits), p->multiplier, p->shift);
    *c = (int16_t)cell;
    *h = (int8_t)td_clamp(td_add_wrap(y, p->zero_point), -128, 127);
}

void td_sequence_lstm_s8(const td_sequence_lstm_params *restrict p, const int8_t *x, const int8_t *restrict w,
                         const int8_t *restrict r, const int32_t *restrict of_x, const int32_t *restrict of_h,
                         int8_t *y, int8_t *h, int16_t *c, int16_t *restrict scratch)
{
    const int32_t size = p->hidden;
    for (int32_t n = 0; n < p->steps * p->batch; n++) {
        const int32_t sample = n % p->batch * size;
        int8_t *const out = y + (p->every_step ? n * size : sample);
        for (int32_t row = 0; row < 4 * size; row += 4) {
            int32_t from_x[4];
            int32_t from_h[4];
            td_dots4_s8(from_x, x, w + row * p->inputs, p->inputs);
            td_dots4_s8(from_h, h + sample, r + row * size, size);
            for (int32_t i = row; i < row + 4; i++) {
                scratch[i] = td_sequence_lstm_gate(p, i / size, td_add_wrap(from_x[i - row], of_x[i]),
                                                   td_add_wrap(from_h[i - row], of_h[i]));
            }
        }
        for (int32_t j = 0; j < size; j++) {
            td_sequence_lstm_unit(p, scratch + j, c + sample + j, h + sample + j);
            out[j] = h[sample + j];
        }
        x += p->inputs;
    }
}
