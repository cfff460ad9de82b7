/* td_add_s8.c - plain C. */
#include "td_add.h"

#include "td_requant.h"

void td_add_s8(const td_add_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out)
{
    const int32_t a_multiplier = p->a_multiplier;
    const int32_t b_multiplier = p->b_multiplier;
    const int32_t offset = p->offset;
    const int32_t shift = p->shift;
    const int32_t low = p->act_min;
    const int32_t high = p->act_max;
    const int32_t a_step = p->shape.a_inner_step;
    const int32_t b_step = p->shape.b_inner_step;
    td_position at = {{0}, 0, 0};
    do {
        const int8_t *x = a + at.a;
        const int8_t *y = b + at.b;
        for (int8_t *const end = out + p->shape.inner; out != end; out++) {
            const int32_t sum = (*x * a_multiplier + *y * b_multiplier + offset) >> shift;
            *out = (int8_t)td_clamp(sum, low, high);
            x += a_step;
            y += b_step;
        }
    } while (td_broadcast_next(&p->shape, &at));
}
