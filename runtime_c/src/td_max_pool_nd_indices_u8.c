/* td_max_pool_nd_indices_u8.c - maximum pooling of uint8, with indices. */
#include "td_pool_nd.h"

#define TD_X      uint8_t
#define TD_LOWEST 0

#include "td_max_pool_nd_indices_body.h"

void td_max_pool_nd_indices_u8(const td_max_pool_nd_indices_params *restrict p, const uint8_t *x, uint8_t *out,
                               int64_t *indices)
{
    td_max_pool_nd_indices(p, x, out, indices);
}
