/* td_max_pool_nd_f32.c - maximum pooling of float32. */
#include "td_pool_nd.h"

#define TD_X             float
#define TD_LOWEST        (-1.0F / 0.0F)
#define TD_WINS(v, best) ((v) > (best) || (v) != (v))

#include "td_max_pool_nd_body.h"

void td_max_pool_nd_f32(const td_pool_nd_f32_params *restrict p, const float *x, float *out)
{
    td_max_pool_nd(&p->axes, x, out, p->low, p->high);
}
