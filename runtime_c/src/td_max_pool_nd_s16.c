/* td_max_pool_nd_s16.c - maximum pooling of int16. */
#include "td_pool_nd.h"

#define TD_X             int16_t
#define TD_LOWEST        INT16_MIN
#define TD_WINS(v, best) ((v) > (best))

#include "td_max_pool_nd_body.h"

void td_max_pool_nd_s16(const td_max_pool_nd_params *restrict p, const int16_t *x, int16_t *out)
{
    td_max_pool_nd(&p->axes, x, out, (int16_t)p->act_min, (int16_t)p->act_max);
}
