/* td_gather.c - plain C. */
#include "td_gather.h"

#include "td_copy.h"

#define TD_LONG_SLICE 16 /* bytes from which words are worth the call */

/* Where the slice of this step begins. */
static int32_t td_source(const td_places *restrict p, const void *indices, const td_place *restrict at)
{
    int32_t place = at->data;
    for (int32_t k = 0; k < p->depth; k++) {
        const int32_t i = td_index(indices, p->wide, at->index + k, p->size[k]);
        place += (i < 0 ? 0 : i < p->size[k] ? i : p->size[k] - 1) * p->step[k];
    }
    return place;
}

#define TD_GATHER(bytes, type)                                                                                         \
    void td_gather_##bytes(const td_places *restrict p, const void *in, const void *indices, void *out)                \
    {                                                                                                                  \
        td_place at = {{0}, 0, 0};                                                                                     \
        type *to = out;                                                                                                \
        do {                                                                                                           \
            const type *from = (const type *)in + td_source(p, indices, &at);                                          \
            if (p->slice >= TD_LONG_SLICE / (bytes)) {                                                                 \
                td_copy_run(to, from, p->slice *(bytes));                                                              \
                to += p->slice;                                                                                        \
                continue;                                                                                              \
            }                                                                                                          \
            for (type *const end = to + p->slice; to != end; to++) {                                                   \
                *to = *from++;                                                                                         \
            }                                                                                                          \
        } while (td_next_place(p, &at) != 0);                                                                          \
    }

TD_GATHER(1, uint8_t)
TD_GATHER(2, td_half)
TD_GATHER(4, td_word)
