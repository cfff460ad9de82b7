/* td_batch_matmul_f32.c - products of float32 matrices. */
#include "td_batch_matmul.h"

#include "td_f32.h"

#define TD_X                    float
#define TD_SUM                  float
#define TD_MAC(done, sum, a, b) ((sum) + (a) * (b))

typedef td_batch_matmul_f32_params td_done;

static inline float td_finish(const td_done *restrict p, float sum)
{
    return td_clamp_f32(sum, p->low, p->high);
}

#include "td_batch_matmul_body.h"

void td_batch_matmul_f32(const td_batch_matmul_f32_params *restrict p, const float *a, const float *b, float *out)
{
    td_batch_matmul(&p->shape, p, a, b, out);
}
