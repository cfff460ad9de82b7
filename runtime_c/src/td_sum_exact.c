/* td_sum_exact.c - plain C. */
#include "td_sum_exact.h"

static inline int32_t td_exact_sum(const td_sum_exact_params *restrict p, int32_t a, int32_t b)
{
    const int32_t x = td_shl_wrap(a - p->a_zero_point, p->left_shift);
    const int32_t y = td_shl_wrap(b - p->b_zero_point, p->left_shift);
    const int32_t sum = td_multiply_double(x, p->a_multiplier, p->a_shift) +
                        p->b_sign * td_multiply_double(y, p->b_multiplier, p->b_shift);
    const int32_t result = td_add_wrap(td_multiply_double(sum, p->multiplier, p->shift), p->zero_point);
    return td_clamp(result, p->act_min, p->act_max);
}

void td_sum_exact_s8(const td_sum_exact_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out)
{
    td_position at = {{0}, 0, 0};
    do {
        const int8_t *x = a + at.a;
        const int8_t *y = b + at.b;
        for (int8_t *const end = out + p->shape.inner; out != end; out++) {
            *out = (int8_t)td_exact_sum(p, *x, *y);
            x += p->shape.a_inner_step;
            y += p->shape.b_inner_step;
        }
    } while (td_broadcast_next(&p->shape, &at));
}

void td_sum_exact_s16(const td_sum_exact_params *restrict p, const int16_t *a, const int16_t *b, int16_t *out)
{
    td_position at = {{0}, 0, 0};
    do {
        const int16_t *x = a + at.a;
        const int16_t *y = b + at.b;
        for (int16_t *const end = out + p->shape.inner; out != end; out++) {
            *out = (int16_t)td_exact_sum(p, *x, *y);
            x += p->shape.a_inner_step;
            y += p->shape.b_inner_step;
        }
    } while (td_broadcast_next(&p->shape, &at));
}

void td_sum_pot_s16(const td_sum_pot_params *restrict p, const int16_t *a, const int16_t *b, int16_t *out)
{
    td_position at = {{0}, 0, 0};
    do {
        const int16_t *x = a + at.a;
        const int16_t *y = b + at.b;
        for (int16_t *const end = out + p->shape.inner; out != end; out++) {
            const int32_t sum = td_rounding_shift(*x, p->a_shift) + p->b_sign * td_rounding_shift(*y, p->b_shift);
            *out = (int16_t)td_clamp(sum, p->act_min, p->act_max);
            x += p->shape.a_inner_step;
            y += p->shape.b_inner_step;
        }
    } while (td_broadcast_next(&p->shape, &at));
}
