/* td_batch_matmul_s8.c - products of int8 matrices with TFLite's double rounding. */
#include "td_batch_matmul.h"

#define TD_X                    int8_t
#define TD_SUM                  uint32_t
#define TD_MAC(done, sum, a, b) ((sum) + (uint32_t)(((a) + (done)->a_offset) * ((b) + (done)->b_offset)))

typedef td_batch_matmul_s8_params td_done;

static inline int8_t td_finish(const td_done *restrict p, uint32_t sum)
{
    const int32_t y = td_add_wrap(td_multiply_double((int32_t)sum, p->multiplier, p->shift), p->zero_point);
    return (int8_t)td_clamp(y, p->act_min, p->act_max);
}

#include "td_batch_matmul_body.h"

void td_batch_matmul_s8(const td_batch_matmul_s8_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out)
{
    td_batch_matmul(&p->shape, p, a, b, out);
}
