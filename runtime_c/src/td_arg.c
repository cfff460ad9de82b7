/* td_arg.c - plain C. */
#include "td_arg.h"

static void td_put_place(const td_arg_params *restrict p, void *out, int32_t at, int32_t place)
{
    if (p->wide != 0) {
        ((int64_t *)out)[at] = place;
    } else {
        ((int32_t *)out)[at] = place;
    }
}

/* `wins`: whether element x takes the place of `best`, which comes before it. */
#define TD_ARG(name, type, wins)                                                                                       \
    void td_arg_##name(const td_arg_params *restrict p, const void *in, void *out)                                     \
    {                                                                                                                  \
        for (int32_t o = 0; o < p->outer; o++) {                                                                       \
            for (int32_t i = 0; i < p->inner; i++) {                                                                   \
                const type *from = (const type *)in + o * p->count * p->inner + i;                                     \
                type best = *from;                                                                                     \
                int32_t place = 0;                                                                                     \
                for (int32_t k = 1; k < p->count; k++) {                                                               \
                    from += p->inner;                                                                                  \
                    const type x = *from;                                                                              \
                    if ((wins) || (p->last != 0 && x == best)) {                                                       \
                        best = x;                                                                                      \
                        place = k;                                                                                     \
                    }                                                                                                  \
                }                                                                                                      \
                td_put_place(p, out, o * p->inner + i, place);                                                         \
            }                                                                                                          \
        }                                                                                                              \
    }

#define TD_ARGS(name, type)                                                                                            \
    TD_ARG(max_##name, type, x > best)                                                                                 \
    TD_ARG(min_##name, type, x < best)

TD_ARGS(s8, int8_t)
TD_ARGS(u8, uint8_t)
TD_ARGS(s16, int16_t)
TD_ARGS(u16, uint16_t)
TD_ARGS(s32, int32_t)
TD_ARGS(u32, uint32_t)
TD_ARGS(s64, int64_t)
TD_ARGS(u64, uint64_t)
TD_ARG(max_f32, float, x > best || (best != best && x == x))
TD_ARG(min_f32, float, x < best || (best != best && x == x))
