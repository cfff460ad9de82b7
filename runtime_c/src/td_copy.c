/* td_copy.c - plain C. */
#include "td_copy.h"

static uintptr_t td_beyond_word(const void *at)
{
    return (uintptr_t)at & 3U;
}

/* 1 if both places are aligned to words and all of `sizes`, joined by or, are whole words. */
static int td_whole_words(const void *a, const void *b, int32_t sizes)
{
    return td_beyond_word(a) == 0U && td_beyond_word(b) == 0U && (sizes & 3) == 0;
}

static void td_move_words(td_word *to, const td_word *from, int32_t count)
{
    const td_word *const end = from + count;
    for (const td_word *const blocks = from + (count & ~3); from != blocks; from += 4) {
        const uint32_t a = from[0];
        const uint32_t b = from[1];
        const uint32_t c = from[2];
        const uint32_t d = from[3];
        to[0] = a;
        to[1] = b;
        to[2] = c;
        to[3] = d;
        to += 4;
    }
    while (from != end) {
        *to++ = *from++;
    }
}

static void td_move_bytes(uint8_t *to, const uint8_t *from, int32_t size)
{
    for (const uint8_t *const end = from + size; from != end; from++) {
        *to++ = *from;
    }
}

/* Copy `size` bytes in rising order. */
static void td_move(uint8_t *to, const uint8_t *from, int32_t size)
{
    if (size >= 8 && td_beyond_word(to) == td_beyond_word(from)) {
        for (; td_beyond_word(to) != 0U; size--) {
            *to++ = *from++;
        }
        const int32_t whole = size & ~3;
        td_move_words((td_word *)(void *)to, (const td_word *)(const void *)from, whole >> 2);
        to += whole;
        from += whole;
        size -= whole;
    }
    td_move_bytes(to, from, size);
}

void td_copy_run(void *to, const void *from, int32_t size)
{
    td_move(to, from, size);
}

void td_copy_blocks(const td_blocks *restrict p, const void *in, void *out)
{
    const uint8_t *from = (const uint8_t *)in + p->in_offset;
    uint8_t *to = (uint8_t *)out + p->out_offset;
    const int words = td_whole_words(from, to, p->size | p->in_step | p->out_step);
    for (int32_t i = 0; i < p->count; i++) {
        if (words == 0) {
            td_move(to, from, p->size);
        } else if (from != to) { /* equal where the plan has laid out over in */
            td_move_words((td_word *)(void *)to, (const td_word *)(const void *)from, p->size >> 2);
        }
        from += p->in_step;
        to += p->out_step;
    }
}

/* Copy `count` elements that lie `step` bytes apart. */
static void td_gather(uint8_t *to, const uint8_t *from, int32_t unit, int32_t count, int32_t step)
{
    uint8_t *const end = to + count * unit;
    if (unit == 1) {
        for (; to != end; to++) {
            *to = *from;
            from += step;
        }
    } else if (unit == 2) {
        for (; to != end; to += 2) {
            *(td_half *)(void *)to = *(const td_half *)(const void *)from;
            from += step;
        }
    } else {
        for (; to != end; to += 4) {
            *(td_word *)(void *)to = *(const td_word *)(const void *)from;
            if (unit == 8) {
                to += 4;
                *(td_word *)(void *)to = *(const td_word *)(const void *)(from + 4);
            }
            from += step;
        }
    }
}

void td_copy_nd(const td_copy_nd_params *restrict p, const void *in, void *out)
{
    int32_t index[TD_OUTER_AXES] = {0};
    const int32_t run = p->inner * p->unit;
    const uint8_t *from = (const uint8_t *)in + p->offset;
    uint8_t *to = out;
    int32_t sizes = run;
    int32_t axis;
    for (axis = 0; axis < TD_OUTER_AXES; axis++) {
        sizes |= p->step[axis];
    }
    const int is_run = p->inner_step == p->unit;
    const int words = is_run && td_whole_words(from, to, sizes);
    do {
        if (words != 0) {
            td_move_words((td_word *)(void *)to, (const td_word *)(const void *)from, run >> 2);
        } else if (is_run != 0) {
            td_move(to, from, run);
        } else {
            td_gather(to, from, p->unit, p->inner, p->inner_step);
        }
        to += run;
        for (axis = TD_OUTER_AXES - 1; axis >= 0; axis--) {
            from += p->step[axis];
            index[axis]++;
            if (index[axis] < p->size[axis]) {
                break;
            }
            from -= p->size[axis] * p->step[axis];
            index[axis] = 0;
        }
    } while (axis >= 0);
}

static uint8_t *td_fill_bytes(const td_pad_nd_params *restrict p, uint8_t *to, int32_t size)
{
    for (; size > 0 && td_beyond_word(to) != 0U; size--) {
        *to = p->value[td_beyond_word(to)];
        to++;
    }
    const uint32_t value = *(const td_word *)(const void *)p->value;
    for (; size >= 4; size -= 4) {
        *(td_word *)(void *)to = value;
        to += 4;
    }
    for (; size > 0; size--) {
        *to = p->value[td_beyond_word(to)];
        to++;
    }
    return to;
}

void td_pad_nd(const td_pad_nd_params *restrict p, const void *in, void *out)
{
    int32_t index[TD_OUTER_AXES] = {0};
    const uint8_t *from = in;
    uint8_t *to = td_fill_bytes(p, out, p->before);
    int32_t axis;
    do {
        td_move(to, from, p->run);
        from += p->run;
        to += p->run;
        for (axis = TD_OUTER_AXES - 1; axis >= 0; axis--) {
            index[axis]++;
            if (index[axis] < p->size[axis]) {
                to = td_fill_bytes(p, to, p->gap[axis]);
                break;
            }
            index[axis] = 0;
        }
    } while (axis >= 0);
    (void)td_fill_bytes(p, to, p->after);
}
