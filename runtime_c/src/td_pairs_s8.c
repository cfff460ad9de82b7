/* td_pairs_s8.c - plain C. */
#include "td_pairs_s8.h"

/* A loop over all elements x and y of type int8_t; `expression` gives the result. */
#define TD_EACH_PAIR(to, expression)                                                                                   \
    td_position at = {{0}, 0, 0};                                                                                      \
    do {                                                                                                               \
        const int8_t *left = a + at.a;                                                                                 \
        const int8_t *right = b + at.b;                                                                                \
        for (to *const end = out + p->shape.inner; out != end; out++) {                                                \
            const int8_t x = *left;                                                                                    \
            const int8_t y = *right;                                                                                   \
            *out = (to)(expression);                                                                                   \
            left += p->shape.a_inner_step;                                                                             \
            right += p->shape.b_inner_step;                                                                            \
        }                                                                                                              \
    } while (td_broadcast_next(&p->shape, &at));

static inline int32_t td_narrow(int32_t y, int32_t zero_point)
{
    return td_clamp(td_add_wrap(y, zero_point), -128, 127);
}

static inline int32_t td_prelu(const td_prelu_params *restrict p, int32_t x, int32_t slope)
{
    const int32_t y = x >= 0 ? td_multiply_double(x, p->multiplier, p->shift)
                             : td_multiply_double(x * slope, p->low_multiplier, p->low_shift);
    return td_narrow(y, p->zero_point);
}

void td_prelu_scaled_s8(const td_prelu_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out)
{
    TD_EACH_PAIR(int8_t, td_prelu(p, x - p->a_zero_point, y - p->b_zero_point))
}

static inline int32_t td_square(const td_squared_difference_params *restrict p, int32_t x, int32_t y)
{
    const int32_t gap = td_multiply_double(td_shl_wrap(x, p->left_shift), p->a_multiplier, p->a_shift) -
                        td_multiply_double(td_shl_wrap(y, p->left_shift), p->b_multiplier, p->b_shift);
    return td_narrow(td_multiply_double(gap * gap, p->multiplier, p->shift), p->zero_point);
}

void td_squared_difference_scaled_s8(const td_squared_difference_params *restrict p, const int8_t *a, const int8_t *b,
                                     int8_t *out)
{
    TD_EACH_PAIR(int8_t, td_square(p, x - p->a_zero_point, y - p->b_zero_point))
}

static inline int32_t td_quotient(const td_div_params *restrict p, const td_reciprocal *restrict r, int32_t x)
{
    if (r->inverse == 0) {
        return x == 0 ? td_narrow(0, p->zero_point) : x > 0 ? 127 : -128;
    }
    const int32_t inverse = r->inverse < 0 ? -r->inverse : r->inverse;
    const int32_t dividend = r->inverse < 0 ? -x : x;
    int32_t room = 31; /* bits by which the dividend can go to the left */
    for (int32_t size = dividend < 0 ? ~dividend : dividend; size != 0; size >>= 1) {
        room--;
    }
    const int32_t right = r->shift + room;
    if (right > 31) {
        return td_narrow(0, p->zero_point);
    }
    return td_narrow(td_rounding_shift(td_srdhm(td_srdhm(td_shl_wrap(dividend, room), inverse), p->multiplier), right),
                     p->zero_point);
}

void td_div_scaled_s8(const td_div_params *restrict p, const td_reciprocal *restrict reciprocals, const int8_t *a,
                      const int8_t *b,
                      int8_t *out){TD_EACH_PAIR(int8_t, td_quotient(p, &reciprocals[(uint8_t)y], x - p->a_zero_point))}

#define TD_DEFINE_RANKED(name, relation)                                                                               \
    TD_RANKED(name)                                                                                                    \
    {                                                                                                                  \
        TD_EACH_PAIR(uint8_t, p->a_rank[(uint8_t)x] relation p->b_rank[(uint8_t)y])                                    \
    }

TD_DEFINE_RANKED(equal, ==) TD_DEFINE_RANKED(not_equal, !=) TD_DEFINE_RANKED(less, <) TD_DEFINE_RANKED(less_equal, <=)
    TD_DEFINE_RANKED(greater, >) TD_DEFINE_RANKED(greater_equal, >=)
