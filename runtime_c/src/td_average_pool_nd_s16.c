/* td_average_pool_nd_s16.c - average pooling of int16. */
#include "td_pool_nd.h"

#define TD_X int16_t

#include "td_average_pool_nd_body.h"

void td_average_pool_nd_s16(const td_average_pool_nd_params *restrict p, const int16_t *x, int16_t *out)
{
    td_average_pool_nd(p, x, out);
}
