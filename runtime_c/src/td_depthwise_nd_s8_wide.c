/* td_depthwise_nd_s8_wide.c - int8, rounded once from the whole int32 sum. */
#include "td_depthwise_nd.h"

#define TD_X   int8_t
#define TD_W   int8_t
#define TD_SUM uint32_t
#define TD_Y   int8_t
#define TD_MAC(done, sum, x, w)                                                                                        \
    ((sum) + (uint32_t)(((x) + (done)->params->x_offset) * ((w) + (done)->params->w_offset)))

typedef struct {
    const td_conv_nd_s8_params *params;
    const td_wide *requant;
    const int32_t *bias;
} td_done;

static inline int8_t td_finish(const td_done *restrict done, int32_t channel, uint32_t sum)
{
    const int32_t acc = (int32_t)(done->bias ? sum + (uint32_t)done->bias[channel] : sum);
    return (int8_t)td_requant_wide(acc, done->requant + channel, done->params->act_min, done->params->act_max);
}

#include "td_depthwise_nd_body.h"

void td_depthwise_nd_s8_wide(const td_conv_nd_s8_params *restrict p, const int8_t *x, const int8_t *weights,
                             const td_wide *restrict requant, const int32_t *restrict bias, int8_t *out)
{
    const td_done done = {p, requant, bias};
    td_depthwise_nd(&p->axes, &done, x, weights, out);
}
