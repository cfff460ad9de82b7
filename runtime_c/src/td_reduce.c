/* td_reduce.c - plain C. */
#include "td_reduce.h"

/* From `first`, `value` of what there is (a) and the next element (b); then `last` of a. */
#define TD_REDUCE(name, type, sum_type, first, value, last)                                                            \
    static sum_type td_run_##name(const td_reduce *restrict p, const type *from, sum_type a)                           \
    {                                                                                                                  \
        for (int32_t r = 0; r < p->size[0]; r++) {                                                                     \
            const type *row = from;                                                                                    \
            for (int32_t s = 0; s < p->size[1]; s++) {                                                                 \
                const type *x = row;                                                                                   \
                for (int32_t t = p->size[2]; t > 0; t--) {                                                             \
                    const type b = *x;                                                                                 \
                    a = (value);                                                                                       \
                    x += p->step[2];                                                                                   \
                }                                                                                                      \
                row += p->step[1];                                                                                     \
            }                                                                                                          \
            from += p->step[0];                                                                                        \
        }                                                                                                              \
        return a;                                                                                                      \
    }                                                                                                                  \
                                                                                                                       \
    void td_reduce_##name(const td_reduce *restrict p, const void *in, void *out)                                      \
    {                                                                                                                  \
        type *to = out;                                                                                                \
        for (int32_t i = 0; i < p->kept[0]; i++) {                                                                     \
            for (int32_t j = 0; j < p->kept[1]; j++) {                                                                 \
                const type *from = (const type *)in + i * p->kept_step[0] + j * p->kept_step[1];                       \
                for (int32_t k = 0; k < p->kept[2]; k++) {                                                             \
                    const sum_type a = td_run_##name(p, from, (first));                                                \
                    *to++ = (type)(last);                                                                              \
                    from += p->kept_step[2];                                                                           \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

TD_REDUCE(sum_8, uint8_t, uint32_t, 0, a + b, a)
TD_REDUCE(sum_16, uint16_t, uint32_t, 0, a + b, a)
TD_REDUCE(sum_32, uint32_t, uint32_t, 0, a + b, a)
TD_REDUCE(sum_64, uint64_t, uint64_t, 0, a + b, a)
TD_REDUCE(sum_f32, float, float, 0.0F, a + b, a)
TD_REDUCE(prod_8, uint8_t, uint32_t, 1, a *b, a)
TD_REDUCE(prod_16, uint16_t, uint32_t, 1, a *b, a)
TD_REDUCE(prod_32, uint32_t, uint32_t, 1, a *b, a)
TD_REDUCE(prod_64, uint64_t, uint64_t, 1, a *b, a)
TD_REDUCE(prod_f32, float, float, 1.0F, a *b, a)

#define TD_REDUCE_EXTREMES(name, type)                                                                                 \
    TD_REDUCE(max_##name, type, type, *from, b > a ? b : a, a)                                                         \
    TD_REDUCE(min_##name, type, type, *from, b < a ? b : a, a)

TD_REDUCE_EXTREMES(s8, int8_t)
TD_REDUCE_EXTREMES(u8, uint8_t)
TD_REDUCE_EXTREMES(s16, int16_t)
TD_REDUCE_EXTREMES(u16, uint16_t)
TD_REDUCE_EXTREMES(s32, int32_t)
TD_REDUCE_EXTREMES(u32, uint32_t)
TD_REDUCE_EXTREMES(s64, int64_t)
TD_REDUCE_EXTREMES(u64, uint64_t)
TD_REDUCE(max_f32, float, float, *from, b > a || b != b ? b : a, a)
TD_REDUCE(min_f32, float, float, *from, b < a || b != b ? b : a, a)

TD_REDUCE(mean_s8, int8_t, uint64_t, 0, a + (uint64_t)b, (int64_t)a / p->count)
TD_REDUCE(mean_u8, uint8_t, uint64_t, 0, a + b, (int64_t)a / p->count)
TD_REDUCE(mean_s16, int16_t, uint64_t, 0, a + (uint64_t)b, (int64_t)a / p->count)
TD_REDUCE(mean_u16, uint16_t, uint64_t, 0, a + b, (int64_t)a / p->count)
TD_REDUCE(mean_s32, int32_t, uint64_t, 0, a + (uint64_t)b, (int64_t)a / p->count)
TD_REDUCE(mean_u32, uint32_t, uint64_t, 0, a + b, (int64_t)a / p->count)
TD_REDUCE(mean_s64, int64_t, uint64_t, 0, a + (uint64_t)b, (int64_t)a / p->count)
TD_REDUCE(mean_f32, float, float, 0.0F, a + b, a / (float)p->count)
