/* td_mean_any.c - plain C. */
#include "td_mean_any.h"

static int32_t td_mean_finish(const td_mean_any_params *restrict p, uint32_t sum)
{
    const int32_t centred = (int32_t)(sum - (uint32_t)p->offset);
    return td_clamp(td_add_wrap(td_multiply_double(centred, p->multiplier, p->shift), p->zero_point), p->act_min,
                    p->act_max);
}

#define TD_MEAN_ANY(name, type)                                                                                        \
    static uint32_t td_sum_of_##name(const td_reduce *restrict a, const type *from)                                    \
    {                                                                                                                  \
        uint32_t sum = 0;                                                                                              \
        for (int32_t r = 0; r < a->size[0]; r++) {                                                                     \
            for (int32_t s = 0; s < a->size[1]; s++) {                                                                 \
                const type *x = from + r * a->step[0] + s * a->step[1];                                                \
                for (int32_t t = a->size[2]; t > 0; t--) {                                                             \
                    const int32_t value = *x;                                                                          \
                    sum += (uint32_t)value;                                                                            \
                    x += a->step[2];                                                                                   \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        return sum;                                                                                                    \
    }                                                                                                                  \
                                                                                                                       \
    void td_mean_any_##name(const td_mean_any_params *restrict p, const type *in, type *out)                           \
    {                                                                                                                  \
        const td_reduce *const a = &p->axes;                                                                           \
        for (int32_t i = 0; i < a->kept[0]; i++) {                                                                     \
            for (int32_t j = 0; j < a->kept[1]; j++) {                                                                 \
                const type *from = in + i * a->kept_step[0] + j * a->kept_step[1];                                     \
                for (int32_t k = 0; k < a->kept[2]; k++) {                                                             \
                    *out++ = (type)td_mean_finish(p, td_sum_of_##name(a, from));                                       \
                    from += a->kept_step[2];                                                                           \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

TD_MEAN_ANY(s8, int8_t)
TD_MEAN_ANY(s16, int16_t)
