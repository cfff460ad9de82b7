/* td_batch_matmul_s32.c - products of int32 matrices modulo 2^32. */
#include "td_batch_matmul.h"

#define TD_X                    int32_t
#define TD_SUM                  uint32_t
#define TD_MAC(done, sum, a, b) ((sum) + (uint32_t)(a) * (uint32_t)(b))

typedef td_matmul_shape td_done;

static inline int32_t td_finish(const td_done *restrict p, uint32_t sum)
{
    (void)p;
    return (int32_t)sum;
}

#include "td_batch_matmul_body.h"

void td_batch_matmul_s32(const td_matmul_shape *restrict p, const int32_t *a, const int32_t *b, int32_t *out)
{
    td_batch_matmul(p, p, a, b, out);
}
