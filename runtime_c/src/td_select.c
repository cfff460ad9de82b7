/* td_select.c - plain C. */
#include "td_select.h"

/* Where the third operand is read: the walk has just moved to the next run of inner elements. */
static int32_t td_third(const td_select_params *restrict p, const td_position *at)
{
    int32_t place = 0;
    for (int32_t i = 0; i < TD_BROADCAST_OUTER; i++) {
        place += at->index[i] * p->c_step[i];
    }
    return place;
}

#define TD_DEFINE_SELECT(bits)                                                                                         \
    TD_SELECT(bits)                                                                                                    \
    {                                                                                                                  \
        uint##bits##_t *result = out;                                                                                  \
        td_position at = {{0}, 0, 0};                                                                                  \
        do {                                                                                                           \
            const uint8_t *which = condition + at.a;                                                                   \
            const uint##bits##_t *left = (const uint##bits##_t *)a + at.b;                                             \
            const uint##bits##_t *right = (const uint##bits##_t *)b + td_third(p, &at);                                \
            for (uint##bits##_t *const end = result + p->shape.inner; result != end; result++) {                       \
                *result = *which != 0U ? *left : *right;                                                               \
                which += p->shape.a_inner_step;                                                                        \
                left += p->shape.b_inner_step;                                                                         \
                right += p->c_inner_step;                                                                              \
            }                                                                                                          \
        } while (td_broadcast_next(&p->shape, &at));                                                                   \
    }

TD_DEFINE_SELECT(8)
TD_DEFINE_SELECT(16)
TD_DEFINE_SELECT(32)
TD_DEFINE_SELECT(64)
