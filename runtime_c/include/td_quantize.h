/* td_quantize.h - between float32 and int8, at the ends of a model.
 *
 * td_quantize_f32_s8    y = saturate(round(x / scale) + zero_point), halves away from zero; NaN gives the zero point
 * td_dequantize_s8_f32  y = (x - zero_point) * scale
 *
 * One IEEE operation an element, so the result is the same on every core. out of `td_quantize` may lie exactly over
 * in. Source: TFLite QUANTIZE and DEQUANTIZE.
 */
#ifndef TD_QUANTIZE_H
#define TD_QUANTIZE_H

#include "td_arch.h"

typedef struct {
    int32_t size;
    int32_t zero_point;
    float scale;
} td_quantize_params;

void td_quantize_f32_s8(const td_quantize_params *restrict p, const float *in, int8_t *out);

void td_dequantize_s8_f32(const td_quantize_params *restrict p, const int8_t *in, float *out);

#endif
