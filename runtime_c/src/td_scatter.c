/* td_scatter.c - plain C. */
#include "td_scatter.h"

/* Where the update of this step goes, -1 if nowhere. */
static int32_t td_target(const td_places *restrict p, const void *indices, const td_place *restrict at)
{
    int32_t place = at->data;
    for (int32_t k = 0; k < p->depth; k++) {
        const int32_t i = td_index(indices, p->wide, at->index + k, p->size[k]);
        if (i < 0 || i >= p->size[k]) {
            return -1;
        }
        place += i * p->step[k];
    }
    return place;
}

/* `value` of the old element a and the update b. */
#define TD_SCATTER(name, type, value)                                                                                  \
    void td_scatter_##name(const td_places *restrict p, const void *indices, const void *updates, void *out)           \
    {                                                                                                                  \
        td_place at = {{0}, 0, 0};                                                                                     \
        const type *from = updates;                                                                                    \
        do {                                                                                                           \
            const int32_t place = td_target(p, indices, &at);                                                          \
            type *to = (type *)out + (place < 0 ? 0 : place);                                                          \
            for (int32_t i = 0; place >= 0 && i < p->slice; i++) {                                                     \
                const type a = to[i];                                                                                  \
                const type b = from[i];                                                                                \
                (void)a;                                                                                               \
                to[i] = (value);                                                                                       \
            }                                                                                                          \
            from += p->slice;                                                                                          \
        } while (td_next_place(p, &at) != 0);                                                                          \
    }

TD_SCATTER(put_1, uint8_t, b)
TD_SCATTER(put_2, td_half, b)
TD_SCATTER(put_4, td_word, b)
TD_SCATTER(add_8, uint8_t, (uint8_t)(a + b))
TD_SCATTER(add_16, uint16_t, (uint16_t)(a + b))
TD_SCATTER(add_32, uint32_t, a + b)
TD_SCATTER(add_64, uint64_t, a + b)
TD_SCATTER(add_f32, float, a + b)
TD_SCATTER(mul_8, uint8_t, (uint8_t)(a *b))
TD_SCATTER(mul_16, uint16_t, (uint16_t)((uint32_t)a *b))
TD_SCATTER(mul_32, uint32_t, a *b)
TD_SCATTER(mul_64, uint64_t, a *b)
TD_SCATTER(mul_f32, float, a *b)

#define TD_SCATTER_EXTREMES(name, type)                                                                                \
    TD_SCATTER(max_##name, type, b > a ? b : a)                                                                        \
    TD_SCATTER(min_##name, type, b < a ? b : a)

TD_SCATTER_EXTREMES(s8, int8_t)
TD_SCATTER_EXTREMES(u8, uint8_t)
TD_SCATTER_EXTREMES(s16, int16_t)
TD_SCATTER_EXTREMES(u16, uint16_t)
TD_SCATTER_EXTREMES(s32, int32_t)
TD_SCATTER_EXTREMES(u32, uint32_t)
TD_SCATTER_EXTREMES(s64, int64_t)
TD_SCATTER_EXTREMES(u64, uint64_t)
TD_SCATTER(max_f32, float, b > a || b != b ? b : a)
TD_SCATTER(min_f32, float, b < a || b != b ? b : a)
