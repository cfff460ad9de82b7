/* td_mul_s16.c - plain C. */
#include "td_mul.h"

void td_mul_s16_exact(const td_mul_params *restrict p, const int16_t *a, const int16_t *b,
                      const td_exact *restrict requant, int16_t *out)
{
    td_position at = {{0}, 0, 0};
    do {
        const int16_t *x = a + at.a;
        const int16_t *y = b + at.b;
        for (int16_t *const end = out + p->shape.inner; out != end; out++) {
            const uint32_t product = (uint32_t)(*x - p->a_zero_point) * (uint32_t)(*y - p->b_zero_point);
            const int32_t result = td_requant_exact((int32_t)product, requant, p->zero_point);
            *out = (int16_t)td_clamp(result, p->act_min, p->act_max);
            x += p->shape.a_inner_step;
            y += p->shape.b_inner_step;
        }
    } while (td_broadcast_next(&p->shape, &at));
}
