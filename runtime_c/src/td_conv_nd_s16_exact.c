/* td_conv_nd_s16_exact.c - int16, sums modulo 2^32, double rounding. */
#include "td_conv_nd_s16.h"

#define TD_X                    int16_t
#define TD_W                    int8_t
#define TD_SUM                  uint32_t
#define TD_Y                    int16_t
#define TD_MAC(done, sum, x, w) ((sum) + (uint32_t)(((x) + (done)->params->x_offset) * (w)))

typedef struct {
    const td_conv_nd_s16_params *params;
    const td_exact *requant;
} td_done;

static inline int16_t td_finish(const td_done *restrict done, int32_t channel, uint32_t sum)
{
    const td_conv_nd_s16_params *const p = done->params;
    const int32_t y = td_requant_exact((int32_t)sum, done->requant + channel, p->zero_point);
    return (int16_t)td_clamp(y, p->act_min, p->act_max);
}

#include "td_conv_nd_body.h"

void td_conv_nd_s16_exact(const td_conv_nd_s16_params *restrict p, const int16_t *x, const int8_t *weights,
                          const td_exact *restrict requant, int16_t *out)
{
    const td_done done = {p, requant};
    td_conv_nd(&p->axes, &done, x, weights, out);
}
