/* td_mean_s8.c - plain C. */
#include "td_mean.h"

/* Sum of one result: `far` runs of `count` elements that lie `inner` apart, run after run `run` apart. */
TD_INLINE int32_t td_sum_of(const td_mean_params *restrict p, const int8_t *in, int32_t run)
{
    int32_t sum = 0;
    for (int32_t f = 0; f < p->far; f++) {
        const int8_t *x = in;
        for (int32_t k = 0; k < p->count; k++) {
            sum += *x;
            x += p->inner;
        }
        in += run;
    }
    return sum;
}

typedef enum { TD_MEAN_AFFINE, TD_MEAN_EXACT, TD_MEAN_WIDE } td_mean_form;

TD_INLINE void td_means(const td_mean_params *restrict p, const int8_t *in, const void *restrict requant, int8_t *out,
                        td_mean_form form)
{
    const int32_t step = p->count * p->inner;
    const int32_t run = p->middle * step;
    for (int32_t o = 0; o < p->outer; o++) {
        for (int32_t m = 0; m < p->middle; m++) {
            for (int32_t i = 0; i < p->inner; i++) {
                const int32_t sum = td_sum_of(p, in + m * step + i, run);
                const int32_t y = form == TD_MEAN_EXACT  ? td_requant_exact(sum, requant, p->zero_point)
                                  : form == TD_MEAN_WIDE ? td_requant_wide(sum, requant, -128, 127)
                                                         : td_requant_affine(sum, requant, p->shift);
                *out++ = (int8_t)td_clamp(y, -128, 127);
            }
        }
        in += p->far * run;
    }
}

void td_mean_s8(const td_mean_params *restrict p, const int8_t *in, const td_affine *restrict requant, int8_t *out)
{
    td_means(p, in, requant, out, TD_MEAN_AFFINE);
}

void td_mean_s8_exact(const td_mean_params *restrict p, const int8_t *in, const td_exact *restrict requant, int8_t *out)
{
    td_means(p, in, requant, out, TD_MEAN_EXACT);
}

void td_mean_s8_wide(const td_mean_params *restrict p, const int8_t *in, const td_wide *restrict requant, int8_t *out)
{
    td_means(p, in, requant, out, TD_MEAN_WIDE);
}
