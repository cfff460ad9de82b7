/* td_cumsum.c - plain C. */
#include "td_cumsum.h"

/* From `first`, `value` of what there is (a) and the next element (b). */
#define TD_CUMSUM(name, type, sum_type, first, value)                                                                  \
    void td_##name(const td_cumsum_params *restrict p, const void *in, void *out)                                      \
    {                                                                                                                  \
        const int32_t block = p->count * p->inner;                                                                     \
        const int32_t step = p->reverse != 0 ? -p->inner : p->inner;                                                   \
        for (int32_t o = 0; o < p->outer; o++) {                                                                       \
            for (int32_t i = 0; i < p->inner; i++) {                                                                   \
                int32_t at = o * block + i + (p->reverse != 0 ? block - p->inner : 0);                                 \
                sum_type a = (first);                                                                                  \
                for (int32_t k = p->count; k > 0; k--) {                                                               \
                    const type b = ((const type *)in)[at];                                                             \
                    const sum_type before = a;                                                                         \
                    a = (value);                                                                                       \
                    ((type *)out)[at] = (type)(p->exclusive != 0 ? before : a);                                        \
                    at += step;                                                                                        \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

TD_CUMSUM(cumsum_8, uint8_t, uint32_t, 0, a + b)
TD_CUMSUM(cumsum_16, uint16_t, uint32_t, 0, a + b)
TD_CUMSUM(cumsum_32, uint32_t, uint32_t, 0, a + b)
TD_CUMSUM(cumsum_64, uint64_t, uint64_t, 0, a + b)
TD_CUMSUM(cumsum_f32, float, float, 0.0F, a + b)
TD_CUMSUM(cumprod_8, uint8_t, uint32_t, 1, a *b)
TD_CUMSUM(cumprod_16, uint16_t, uint32_t, 1, a *b)
TD_CUMSUM(cumprod_32, uint32_t, uint32_t, 1, a *b)
TD_CUMSUM(cumprod_64, uint64_t, uint64_t, 1, a *b)
TD_CUMSUM(cumprod_f32, float, float, 1.0F, a *b)
