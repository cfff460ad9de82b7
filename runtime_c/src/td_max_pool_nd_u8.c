/* td_max_pool_nd_u8.c - maximum pooling of uint8. */
#include "td_pool_nd.h"

#define TD_X             uint8_t
#define TD_LOWEST        0
#define TD_WINS(v, best) ((v) > (best))

#include "td_max_pool_nd_body.h"

void td_max_pool_nd_u8(const td_max_pool_nd_params *restrict p, const uint8_t *x, uint8_t *out)
{
    td_max_pool_nd(&p->axes, x, out, (uint8_t)p->act_min, (uint8_t)p->act_max);
}
