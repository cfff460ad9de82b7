/* td_quantize_any.h - between float32 and integers of other types than int8 (td_quantize.h).
 *
 * td_quantize_f32_<to>      y = saturate(round(x / scale) + zero_point), halves away from zero; NaN is the zero point
 * td_dequantize_<from>_f32  y = (x - zero_point) * scale
 *
 * in, out  `size` elements; out may lie exactly over in, of td_quantize also below it. 32-bit types have no zero point.
 *
 * Source: TFLite QUANTIZE (AffineQuantize) and DEQUANTIZE.
 */
#ifndef TD_QUANTIZE_ANY_H
#define TD_QUANTIZE_ANY_H

#include "td_quantize.h"

void td_quantize_f32_u8(const td_quantize_params *restrict p, const float *in, uint8_t *out);
void td_quantize_f32_s16(const td_quantize_params *restrict p, const float *in, int16_t *out);
void td_quantize_f32_u16(const td_quantize_params *restrict p, const float *in, uint16_t *out);
void td_quantize_f32_s32(const td_quantize_params *restrict p, const float *in, int32_t *out);

void td_dequantize_u8_f32(const td_quantize_params *restrict p, const uint8_t *in, float *out);
void td_dequantize_s16_f32(const td_quantize_params *restrict p, const int16_t *in, float *out);
void td_dequantize_u16_f32(const td_quantize_params *restrict p, const uint16_t *in, float *out);
void td_dequantize_s32_f32(const td_quantize_params *restrict p, const int32_t *in, float *out);

#endif
