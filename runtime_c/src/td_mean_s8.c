/* td_mean_s8.c - plain C. */
#include "td_mean.h"

TD_INLINE void td_means(const td_mean_params *restrict p, const int8_t *in, const void *restrict requant, int8_t *out,
                        int exact)
{
    const int32_t inner = p->inner;
    for (int32_t o = 0; o < p->outer; o++) {
        for (int32_t i = 0; i < inner; i++) {
            const int8_t *x = in + i;
            int32_t sum = 0;
            for (int32_t k = 0; k < p->count; k++) {
                sum += *x;
                x += inner;
            }
            const int32_t y =
                exact ? td_requant_exact(sum, requant, p->zero_point) : td_requant_affine(sum, requant, p->shift);
            *out++ = (int8_t)td_clamp(y, -128, 127);
        }
        in += p->count * inner;
    }
}

void td_mean_s8(const td_mean_params *restrict p, const int8_t *in, const td_affine *restrict requant, int8_t *out)
{
    td_means(p, in, requant, out, 0);
}

void td_mean_s8_exact(const td_mean_params *restrict p, const int8_t *in, const td_exact *restrict requant, int8_t *out)
{
    td_means(p, in, requant, out, 1);
}
