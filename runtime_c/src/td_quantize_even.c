/* td_quantize_even.c - plain C, no mathematical library. */
#include "td_quantize_even.h"

#include "td_requant.h"

#define TD_FAR 1048576.0F /* beyond every 16-bit result, whatever the zero point */

/* Halves to even, limited; NaN is 0. Below 2^22, adding and taking away 1.5 * 2^23 leaves the nearest whole number. */
static int32_t td_round(float x)
{
    if (!(x > -TD_FAR)) {
        return x <= -TD_FAR ? -(1 << 20) : 0;
    }
    return x < TD_FAR ? (int32_t)((x + 12582912.0F) - 12582912.0F) : 1 << 20;
}

#define TD_QUANTIZE_EVEN(name, to, low, high)                                                                          \
    void name(const td_quantize_params *restrict p, const float *in, to *out)                                          \
    {                                                                                                                  \
        for (int32_t i = 0; i < p->size; i++) {                                                                        \
            out[i] = (to)td_clamp(td_round(in[i] / p->scale) + p->zero_point, low, high);                              \
        }                                                                                                              \
    }

TD_QUANTIZE_EVEN(td_quantize_even_s8, int8_t, -128, 127)
TD_QUANTIZE_EVEN(td_quantize_even_u8, uint8_t, 0, 255)
TD_QUANTIZE_EVEN(td_quantize_even_s16, int16_t, -32768, 32767)
TD_QUANTIZE_EVEN(td_quantize_even_u16, uint16_t, 0, 65535)
