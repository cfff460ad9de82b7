/* td_max_pool_nd_s8.c - maximum pooling of int8. */
#include "td_pool_nd.h"

#define TD_X             int8_t
#define TD_LOWEST        INT8_MIN
#define TD_WINS(v, best) ((v) > (best))

#include "td_max_pool_nd_body.h"

void td_max_pool_nd_s8(const td_max_pool_nd_params *restrict p, const int8_t *x, int8_t *out)
{
    td_max_pool_nd(&p->axes, x, out, (int8_t)p->act_min, (int8_t)p->act_max);
}
