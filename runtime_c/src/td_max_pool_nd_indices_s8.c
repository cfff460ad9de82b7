/* td_max_pool_nd_indices_s8.c - maximum pooling of int8, with indices. */
#include "td_pool_nd.h"

#define TD_X      int8_t
#define TD_LOWEST INT8_MIN

#include "td_max_pool_nd_indices_body.h"

void td_max_pool_nd_indices_s8(const td_max_pool_nd_indices_params *restrict p, const int8_t *x, int8_t *out,
                               int64_t *indices)
{
    td_max_pool_nd_indices(p, x, out, indices);
}
