/* td_update_slice.c - plain C. */
#include "td_update_slice.h"

/* The first element of out that the block covers. */
static int32_t td_first(const td_places *restrict p, const void *start)
{
    int32_t place = 0;
    for (int32_t k = 0; k < p->depth; k++) {
        const int64_t given = p->wide != 0 ? ((const int64_t *)start)[k] : ((const int32_t *)start)[k];
        const int32_t last = p->size[k] - 1;
        place += (given < 0 ? 0 : given < last ? (int32_t)given : last) * p->step[k];
    }
    return place;
}

#define TD_UPDATE_SLICE(bytes, type)                                                                                   \
    void td_update_slice_##bytes(const td_places *restrict p, const void *update, const void *start, void *out)        \
    {                                                                                                                  \
        td_place at = {{0}, 0, 0};                                                                                     \
        const type *from = update;                                                                                     \
        type *const first = (type *)out + td_first(p, start);                                                          \
        do {                                                                                                           \
            type *to = first + at.data;                                                                                \
            for (const type *const end = from + p->slice; from != end; from++) {                                       \
                *to++ = *from;                                                                                         \
            }                                                                                                          \
        } while (td_next_place(p, &at) != 0);                                                                          \
    }

TD_UPDATE_SLICE(1, uint8_t)
TD_UPDATE_SLICE(2, td_half)
TD_UPDATE_SLICE(4, td_word)
