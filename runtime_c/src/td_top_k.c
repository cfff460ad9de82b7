/* td_top_k.c - plain C. */
#include "td_top_k.h"

static void td_put_place(const td_top_k_params *restrict p, void *places, int32_t at, int32_t place)
{
    if (p->wide != 0) {
        ((int64_t *)places)[at] = place;
    } else {
        ((int32_t *)places)[at] = place;
    }
}

/* The place at `at` becomes the one before it. */
static void td_shift_place(const td_top_k_params *restrict p, void *places, int32_t at)
{
    if (p->wide != 0) {
        ((int64_t *)places)[at] = ((const int64_t *)places)[at - p->inner];
    } else {
        ((int32_t *)places)[at] = ((const int32_t *)places)[at - p->inner];
    }
}

/* A sorted list of the best so far grows in the outputs. `wins`: whether x comes before `other`, which was there first.
 */
#define TD_TOP_K(name, type, wins)                                                                                     \
    void td_top_##name(const td_top_k_params *restrict p, const void *in, void *values, void *places)                  \
    {                                                                                                                  \
        type *const best = values;                                                                                     \
        for (int32_t o = 0; o < p->outer; o++) {                                                                       \
            for (int32_t i = 0; i < p->inner; i++) {                                                                   \
                const type *from = (const type *)in + o * p->count * p->inner + i;                                     \
                const int32_t start = o * p->k * p->inner + i;                                                         \
                for (int32_t n = 0; n < p->count; n++) {                                                               \
                    const type x = *from;                                                                              \
                    int32_t at = start + (n < p->k ? n : p->k) * p->inner;                                             \
                    const int32_t end = start + p->k * p->inner;                                                       \
                    from += p->inner;                                                                                  \
                    while (at > start) {                                                                               \
                        const type other = best[at - p->inner];                                                        \
                        if (!(wins)) {                                                                                 \
                            break;                                                                                     \
                        }                                                                                              \
                        if (at < end) {                                                                                \
                            best[at] = other;                                                                          \
                            td_shift_place(p, places, at);                                                             \
                        }                                                                                              \
                        at -= p->inner;                                                                                \
                    }                                                                                                  \
                    if (at < end) {                                                                                    \
                        best[at] = x;                                                                                  \
                        td_put_place(p, places, at, n);                                                                \
                    }                                                                                                  \
                }                                                                                                      \
            }                                                                                                          \
        }                                                                                                              \
    }

#define TD_TOP_KS(name, type)                                                                                          \
    TD_TOP_K(largest_##name, type, x > other)                                                                          \
    TD_TOP_K(smallest_##name, type, x < other)

TD_TOP_KS(s8, int8_t)
TD_TOP_KS(u8, uint8_t)
TD_TOP_KS(s16, int16_t)
TD_TOP_KS(u16, uint16_t)
TD_TOP_KS(s32, int32_t)
TD_TOP_KS(u32, uint32_t)
TD_TOP_KS(s64, int64_t)
TD_TOP_KS(u64, uint64_t)
TD_TOP_K(largest_f32, float, x > other || (other != other && x == x))
TD_TOP_K(smallest_f32, float, x < other || (other != other && x == x))
