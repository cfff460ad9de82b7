/* td_quantize_any.c - plain C, no mathematical library. */
#include "td_quantize_any.h"

#include "td_requant.h"

/* Halves away from zero, limited to int32; NaN is 0. */
static int32_t td_round(float x)
{
    if (!(x > -2147483648.0F)) {
        return x <= -2147483648.0F ? INT32_MIN : 0;
    }
    if (x >= 2147483648.0F) {
        return INT32_MAX;
    }
    const int32_t whole = (int32_t)x;
    const float rest = x - (float)whole;
    if (rest >= 0.5F) {
        return whole + 1;
    }
    return rest <= -0.5F ? whole - 1 : whole;
}

/* With a zero point of at most 16 bits, that the sum may leave int32 is seen before. */
static int32_t td_shifted(int32_t steps, int32_t zero_point, int32_t low, int32_t high)
{
    return td_clamp(td_clamp(steps, -(1 << 20), 1 << 20) + zero_point, low, high);
}

#define TD_QUANTIZE(name, to, low, high)                                                                               \
    void name(const td_quantize_params *restrict p, const float *in, to *out)                                          \
    {                                                                                                                  \
        for (int32_t i = 0; i < p->size; i++) {                                                                        \
            out[i] = (to)td_shifted(td_round(in[i] / p->scale), p->zero_point, low, high);                             \
        }                                                                                                              \
    }

TD_QUANTIZE(td_quantize_f32_u8, uint8_t, 0, 255)
TD_QUANTIZE(td_quantize_f32_s16, int16_t, -32768, 32767)
TD_QUANTIZE(td_quantize_f32_u16, uint16_t, 0, 65535)

void td_quantize_f32_s32(const td_quantize_params *restrict p, const float *in, int32_t *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        out[i] = td_round(in[i] / p->scale);
    }
}

#define TD_DEQUANTIZE(name, from)                                                                                      \
    void name(const td_quantize_params *restrict p, const from *in, float *out)                                        \
    {                                                                                                                  \
        for (int32_t i = 0; i < p->size; i++) {                                                                        \
            out[i] = (float)((int32_t)in[i] - p->zero_point) * p->scale;                                               \
        }                                                                                                              \
    }

TD_DEQUANTIZE(td_dequantize_u8_f32, uint8_t)
TD_DEQUANTIZE(td_dequantize_s16_f32, int16_t)
TD_DEQUANTIZE(td_dequantize_u16_f32, uint16_t)
TD_DEQUANTIZE(td_dequantize_s32_f32, int32_t)
