/* td_log_softmax_s8.c - plain C. */
#include "td_log_softmax.h"

#include "td_fixed.h"

#define TD_SUM_BITS            12 /* integer bits of the sum */
#define TD_POWER_SHIFT         25 /* fractional bits of powers: Q6.25 */
#define TD_QUARTER             (1 << (TD_POWER_SHIFT - 2))
#define TD_HALF_SQRT_2         1518500250 /* Q0.31, as all that follow */
#define TD_FOURTH_ROOT_OF_HALF 1805811301
#define TD_LOG_2               1488522236
#define TD_ALPHA_N             117049297
#define TD_ALPHA_D             127690142
#define TD_ALPHA_I             1057819769
#define TD_ALPHA_F             638450708

/* log(x) in Q5.26 for x >= 1 in Q12.19. */
static int32_t td_log_of(int32_t x)
{
    const int32_t leading = td_leading_zeros(x);
    const int32_t ra = td_shl_saturate(td_srdhm(td_shl_saturate(x, leading - 1), TD_HALF_SQRT_2), 1);
    const int32_t power_a = td_shl_saturate(TD_SUM_BITS - leading, TD_POWER_SHIFT) + TD_QUARTER;
    const int32_t headroom = td_leading_zeros(td_srdhm(x, TD_HALF_SQRT_2)) - 1;
    const int32_t rb = td_shl_saturate(x, headroom);
    const int32_t power_b = td_shl_saturate(TD_SUM_BITS - headroom, TD_POWER_SHIFT) - TD_QUARTER;
    const int32_t r = ra < rb ? ra : rb;
    const int32_t power = power_a > power_b ? power_a : power_b;
    const int32_t p = (int32_t)(((uint32_t)r + TD_FOURTH_ROOT_OF_HALF + 1U) >> 1);
    const int32_t q = td_shl_wrap(r - TD_FOURTH_ROOT_OF_HALF, 1);
    const int32_t size = q < 0 ? -q : q;
    const int32_t square = td_srdhm(size, size);
    const int32_t numerator = td_srdhm(q, r) + td_srdhm(td_srdhm(q, square), TD_ALPHA_N);
    const int32_t inner = TD_ALPHA_I + q + td_srdhm(square, TD_ALPHA_D);
    const int32_t denominator = td_srdhm(inner, p) + td_srdhm(q, TD_ALPHA_F);
    const int32_t rest = td_srdhm(td_rounding_shift(numerator, 6), td_one_over_one_plus((uint32_t)denominator));
    return td_shl_saturate(td_srdhm(power, TD_LOG_2) + rest, 1);
}

void td_log_softmax_s8(const td_log_softmax_params *restrict p, const int8_t *in, const int32_t *restrict rescaled,
                       const int32_t *restrict terms, int8_t *out)
{
    int32_t max = -128;
    for (int32_t i = 0; i < p->depth; i++) {
        max = in[i] > max ? in[i] : max;
    }
    int32_t sum = 0;
    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t d = max - in[i];
        sum += d < p->terms_length ? terms[d] : 0;
    }
    const int32_t log = td_log_of(sum);
    const int32_t lowest = td_multiply_double(td_add_wrap(log, INT32_MIN), p->multiplier, p->shift);
    const int32_t least = lowest > p->least ? lowest : p->least;
    for (int32_t i = 0; i < p->depth; i++) {
        const int32_t d = max - in[i];
        if (-d > least) {
            const int32_t y = td_rounding_shift(rescaled[d] - log, 22) + 127;
            out[i] = (int8_t)td_clamp(y, -128, 127);
        } else {
            out[i] = -128;
        }
    }
}
