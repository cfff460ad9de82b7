/* td_quantize_even.h - float32 to integers, halves to even.
 *
 * td_quantize_even_<to>  y = saturate(round(x / scale) + zero_point); NaN is the zero point
 *
 * in, out  `size` elements; out may lie exactly over in or below it.
 *
 * Source: ONNX QuantizeLinear.
 */
#ifndef TD_QUANTIZE_EVEN_H
#define TD_QUANTIZE_EVEN_H

#include "td_quantize.h"

void td_quantize_even_s8(const td_quantize_params *restrict p, const float *in, int8_t *out);
void td_quantize_even_u8(const td_quantize_params *restrict p, const float *in, uint8_t *out);
void td_quantize_even_s16(const td_quantize_params *restrict p, const float *in, int16_t *out);
void td_quantize_even_u16(const td_quantize_params *restrict p, const float *in, uint16_t *out);

#endif
