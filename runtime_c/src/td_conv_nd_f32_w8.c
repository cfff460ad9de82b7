/* td_conv_nd_f32_w8.c - float32 input, int8 weights with a scale an output channel. */
#include "td_conv_nd.h"

#include "td_f32.h"

#define TD_X                    float
#define TD_W                    int8_t
#define TD_SUM                  float
#define TD_Y                    float
#define TD_MAC(done, sum, x, w) ((sum) + (x) * (float)(w))

typedef struct {
    const float *scales;
    const float *bias;
    float low;
    float high;
} td_done;

static inline float td_finish(const td_done *restrict done, int32_t channel, float sum)
{
    const float scaled = sum * done->scales[channel];
    return td_clamp_f32(done->bias ? scaled + done->bias[channel] : scaled, done->low, done->high);
}

#include "td_conv_nd_body.h"

void td_conv_nd_f32_w8(const td_conv_nd_f32_params *restrict p, const float *x, const int8_t *weights,
                       const float *restrict scales, const float *restrict bias, float *out)
{
    const td_done done = {scales, bias, p->low, p->high};
    td_conv_nd(&p->axes, &done, x, weights, out);
}
