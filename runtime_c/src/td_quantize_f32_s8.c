/* td_quantize_f32_s8.c - plain C, no mathematical library. */
#include "td_quantize.h"

#include "td_requant.h"

/* Halves away from zero; what is beyond 1024 is 1024, as only 8 bits remain; NaN is 0. */
static int32_t td_round(float x)
{
    if (!(x > -1024.0F)) {
        return x <= -1024.0F ? -1024 : 0;
    }
    const float limited = x < 1024.0F ? x : 1024.0F;
    const int32_t whole = (int32_t)limited;
    const float rest = limited - (float)whole;
    if (rest >= 0.5F) {
        return whole + 1;
    }
    return rest <= -0.5F ? whole - 1 : whole;
}

void td_quantize_f32_s8(const td_quantize_params *restrict p, const float *in, int8_t *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        out[i] = (int8_t)td_clamp(td_round(in[i] / p->scale) + p->zero_point, -128, 127);
    }
}
