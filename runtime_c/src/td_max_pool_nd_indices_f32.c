/* td_max_pool_nd_indices_f32.c - maximum pooling of float32, with indices. */
#include "td_pool_nd.h"

#define TD_X      float
#define TD_LOWEST (-1.0F / 0.0F)

#include "td_max_pool_nd_indices_body.h"

void td_max_pool_nd_indices_f32(const td_max_pool_nd_indices_params *restrict p, const float *x, float *out,
                                int64_t *indices)
{
    td_max_pool_nd_indices(p, x, out, indices);
}
