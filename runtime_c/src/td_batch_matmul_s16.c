/* td_batch_matmul_s16.c - products of int16 matrices, sums in int64. */
#include "td_batch_matmul.h"

#define TD_X                    int16_t
#define TD_SUM                  int64_t
#define TD_MAC(done, sum, a, b) ((sum) + (int64_t)((a) + (done)->a_offset) * ((b) + (done)->b_offset))

typedef td_batch_matmul_s16_params td_done;

static inline int16_t td_finish(const td_done *restrict p, int64_t sum)
{
    return (int16_t)td_requant_reduced(sum, &p->requant, p->zero_point, p->act_min, p->act_max);
}

#include "td_batch_matmul_body.h"

void td_batch_matmul_s16(const td_batch_matmul_s16_params *restrict p, const int16_t *a, const int16_t *b, int16_t *out)
{
    td_batch_matmul(&p->shape, p, a, b, out);
}
