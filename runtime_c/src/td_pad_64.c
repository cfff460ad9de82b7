/* td_pad_64.c - plain C. */
#include "td_pad_64.h"

static int64_t *td_fill_64(int64_t *to, int64_t value, int32_t count)
{
    for (; count > 0; count--) {
        *to++ = value;
    }
    return to;
}

void td_pad_64(const td_pad_64_params *restrict p, const void *in, void *out)
{
    int32_t index[TD_OUTER_AXES] = {0};
    const int64_t *from = in;
    int64_t *to = td_fill_64(out, p->value, p->before);
    int32_t axis;
    do {
        for (int32_t i = 0; i < p->run; i++) {
            *to++ = *from++;
        }
        for (axis = TD_OUTER_AXES - 1; axis >= 0; axis--) {
            index[axis]++;
            if (index[axis] < p->size[axis]) {
                to = td_fill_64(to, p->value, p->gap[axis]);
                break;
            }
            index[axis] = 0;
        }
    } while (axis >= 0);
    (void)td_fill_64(to, p->value, p->after);
}
