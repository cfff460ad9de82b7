/* td_copy.c - plain C. */
#include "td_copy.h"

static uint8_t *td_move(uint8_t *to, const uint8_t *from, int32_t size)
{
    for (const uint8_t *const end = from + size; from != end; from++) {
        *to++ = *from;
    }
    return to;
}

void td_copy_blocks(const td_blocks *restrict p, const void *in, void *out)
{
    const uint8_t *from = (const uint8_t *)in + p->in_offset;
    uint8_t *to = (uint8_t *)out + p->out_offset;
    for (int32_t i = 0; i < p->count; i++) {
        (void)td_move(to, from, p->size);
        from += p->in_step;
        to += p->out_step;
    }
}

void td_copy_nd(const td_copy_nd_params *restrict p, const void *in, void *out)
{
    int32_t index[TD_AXES] = {0};
    int32_t at = p->offset;
    uint8_t *to = out;
    int32_t axis;
    do {
        to = td_move(to, (const uint8_t *)in + at, p->unit);
        for (axis = TD_AXES - 1; axis >= 0; axis--) {
            at += p->step[axis];
            index[axis]++;
            if (index[axis] < p->size[axis]) {
                break;
            }
            at -= p->size[axis] * p->step[axis];
            index[axis] = 0;
        }
    } while (axis >= 0);
}

void td_pad_nd(const td_pad_nd_params *restrict p, const void *in, void *out)
{
    int32_t index[TD_AXES] = {0};
    const uint8_t *from = in;
    uint8_t *to = out;
    int32_t axis;
    do {
        int inside = 1;
        for (axis = 0; axis < TD_AXES; axis++) {
            inside &= index[axis] >= p->first[axis] && index[axis] < p->last[axis];
        }
        if (inside != 0) {
            to = td_move(to, from, p->unit);
            from += p->unit;
        } else {
            for (int32_t i = 0; i < p->unit; i++) {
                *to++ = (uint8_t)p->value;
            }
        }
        for (axis = TD_AXES - 1; axis >= 0; axis--) {
            index[axis]++;
            if (index[axis] < p->size[axis]) {
                break;
            }
            index[axis] = 0;
        }
    } while (axis >= 0);
}
