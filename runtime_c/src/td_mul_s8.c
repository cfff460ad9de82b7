/* td_mul_s8.c - plain C. */
#include "td_mul.h"

TD_INLINE void td_products(const td_mul_params *restrict p, const int8_t *a, const int8_t *b,
                           const void *restrict requant, int8_t *out, int exact)
{
    td_position at = {{0}, 0, 0};
    do {
        const int8_t *x = a + at.a;
        const int8_t *y = b + at.b;
        for (int8_t *const end = out + p->shape.inner; out != end; out++) {
            const int32_t product = (*x - p->a_zero_point) * (*y - p->b_zero_point);
            const int32_t result = exact ? td_requant_exact(product, requant, p->zero_point)
                                         : td_requant_affine(product, requant, p->shift);
            *out = (int8_t)td_clamp(result, p->act_min, p->act_max);
            x += p->shape.a_inner_step;
            y += p->shape.b_inner_step;
        }
    } while (td_broadcast_next(&p->shape, &at));
}

void td_mul_s8(const td_mul_params *restrict p, const int8_t *a, const int8_t *b, const td_affine *restrict requant,
               int8_t *out)
{
    td_products(p, a, b, requant, out, 0);
}

void td_mul_s8_exact(const td_mul_params *restrict p, const int8_t *a, const int8_t *b,
                     const td_exact *restrict requant, int8_t *out)
{
    td_products(p, a, b, requant, out, 1);
}
