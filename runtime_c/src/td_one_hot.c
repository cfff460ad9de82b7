/* td_one_hot.c - plain C. */
#include "td_one_hot.h"

/* The position to mark; any that is not in 0..depth-1 where there is none. */
static int32_t td_marked(const td_one_hot_params *restrict p, const void *indices, int32_t at)
{
    const int negative = p->wide != 0 ? ((const int64_t *)indices)[at] < 0 : ((const int32_t *)indices)[at] < 0;
    return negative && p->from_end == 0 ? -1 : td_index(indices, p->wide, at, p->depth);
}

/* Elements are `words` words of `type`. */
#define TD_ONE_HOT(bytes, type, words)                                                                                 \
    void td_one_hot_##bytes(const td_one_hot_params *restrict p, const void *indices, const void *values, void *out)   \
    {                                                                                                                  \
        const type *const off = values;                                                                                \
        const type *const on = off + (words);                                                                          \
        type *to = out;                                                                                                \
        for (int32_t o = 0; o < p->outer; o++) {                                                                       \
            for (int32_t d = 0; d < p->depth; d++) {                                                                   \
                for (int32_t i = 0; i < p->inner; i++) {                                                               \
                    const type *const value = td_marked(p, indices, o * p->inner + i) == d ? on : off;                 \
                    for (int32_t w = 0; w < (words); w++) {                                                            \
                        *to++ = value[w];                                                                              \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

TD_ONE_HOT(1, uint8_t, 1)
TD_ONE_HOT(2, td_half, 1)
TD_ONE_HOT(4, td_word, 1)
TD_ONE_HOT(8, td_word, 2)
