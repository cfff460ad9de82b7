/* td_depthwise_nd_s16_once_long.c - int16, sums in int64, rounded once. */
#include "td_conv_nd_s16.h"

#define TD_X                    int16_t
#define TD_W                    int8_t
#define TD_SUM                  int64_t
#define TD_Y                    int16_t
#define TD_MAC(done, sum, x, w) ((sum) + ((x) + (done)->params->x_offset) * (w))

typedef struct {
    const td_conv_nd_s16_params *params;
    const td_once *requant;
} td_done;

static inline int16_t td_finish(const td_done *restrict done, int32_t channel, int64_t sum)
{
    const td_conv_nd_s16_params *const p = done->params;
    return (int16_t)td_requant_once(sum, done->requant + channel, p->zero_point, p->act_min, p->act_max);
}

#include "td_depthwise_nd_body.h"

void td_depthwise_nd_s16_once_long(const td_conv_nd_s16_params *restrict p, const int16_t *x, const int8_t *weights,
                                   const td_once *restrict requant, int16_t *out)
{
    const td_done done = {p, requant};
    td_depthwise_nd(&p->axes, &done, x, weights, out);
}
