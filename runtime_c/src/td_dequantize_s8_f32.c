/* td_dequantize_s8_f32.c - plain C. */
#include "td_quantize.h"

void td_dequantize_s8_f32(const td_quantize_params *restrict p, const int8_t *in, float *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        out[i] = (float)(in[i] - p->zero_point) * p->scale;
    }
}
