/* td_average_pool_nd_s8.c - average pooling of int8. */
#include "td_pool_nd.h"

#define TD_X int8_t

#include "td_average_pool_nd_body.h"

void td_average_pool_nd_s8(const td_average_pool_nd_params *restrict p, const int8_t *x, int8_t *out)
{
    td_average_pool_nd(p, x, out);
}
