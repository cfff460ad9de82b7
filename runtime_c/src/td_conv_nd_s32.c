/* td_conv_nd_s32.c - int32 without scales, modulo 2^32. */
#include "td_conv_nd.h"

#define TD_X                    int32_t
#define TD_W                    int32_t
#define TD_SUM                  uint32_t
#define TD_Y                    int32_t
#define TD_MAC(done, sum, x, w) ((sum) + (uint32_t)(x) * (uint32_t)(w))

typedef struct {
    const int32_t *bias;
} td_done;

static inline int32_t td_finish(const td_done *restrict done, int32_t channel, uint32_t sum)
{
    return (int32_t)(done->bias ? sum + (uint32_t)done->bias[channel] : sum);
}

#include "td_conv_nd_body.h"

void td_conv_nd_s32(const td_axes *restrict p, const int32_t *x, const int32_t *weights, const int32_t *restrict bias,
                    int32_t *out)
{
    const td_done done = {bias};
    td_conv_nd(p, &done, x, weights, out);
}
