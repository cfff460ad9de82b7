/* td_conv_nd_f32.c - float32 input and weights. */
#include "td_conv_nd.h"

#include "td_f32.h"

#define TD_X                    float
#define TD_W                    float
#define TD_SUM                  float
#define TD_Y                    float
#define TD_MAC(done, sum, x, w) ((sum) + (x) * (w))

typedef struct {
    const float *bias;
    float low;
    float high;
} td_done;

static inline float td_finish(const td_done *restrict done, int32_t channel, float sum)
{
    return td_clamp_f32(done->bias ? sum + done->bias[channel] : sum, done->low, done->high);
}

#include "td_conv_nd_body.h"

void td_conv_nd_f32(const td_conv_nd_f32_params *restrict p, const float *x, const float *weights,
                    const float *restrict bias, float *out)
{
    const td_done done = {bias, p->low, p->high};
    td_conv_nd(&p->axes, &done, x, weights, out);
}
