/* td_rescale.h - integers of one scale and width to integers of another; limits on the way (relu).
 *
 * td_rescale_<from>_<to>   y = clamp(zero_point + double_round((x - in_zero_point) * real)), td_requant.h
 * td_slopes_s16            the same with a multiplier of its own for x below its zero point (leaky_relu, abs)
 *
 * in, out  `size` elements; out may lie over in where no element is overwritten before it is read. 32-bit types have no
 * zero point.
 *
 * Source: TFLite QUANTIZE (Requantize), RELU (ReluX), ABS, LEAKY_RELU (QuantizeLeakyRelu).
 */
#ifndef TD_RESCALE_H
#define TD_RESCALE_H

#include "td_copy.h"
#include "td_requant.h"

typedef struct {
    int32_t size;
    int32_t in_zero_point;
    int32_t multiplier;
    int32_t shift;
    int32_t zero_point;
    int32_t act_min;
    int32_t act_max;
} td_rescale_params;

typedef struct {
    int32_t size;
    int32_t in_zero_point;
    int32_t multiplier; /* x at or above the zero point */
    int32_t shift;
    int32_t low_multiplier; /* below it, of x times low_sign */
    int32_t low_shift;
    int32_t low_sign;
    int32_t zero_point;
} td_slopes_params;

void td_rescale_s8_s16(const td_rescale_params *restrict p, const int8_t *in, int16_t *out);
void td_rescale_s8_s32(const td_rescale_params *restrict p, const int8_t *in, int32_t *out);
void td_rescale_u8_s16(const td_rescale_params *restrict p, const uint8_t *in, int16_t *out);
void td_rescale_u8_s32(const td_rescale_params *restrict p, const uint8_t *in, int32_t *out);
void td_rescale_s16_s8(const td_rescale_params *restrict p, const int16_t *in, int8_t *out);
void td_rescale_s16_u8(const td_rescale_params *restrict p, const int16_t *in, uint8_t *out);
void td_rescale_s16_s16(const td_rescale_params *restrict p, const int16_t *in, int16_t *out);
void td_rescale_s16_s32(const td_rescale_params *restrict p, const int16_t *in, int32_t *out);
void td_rescale_s32_s8(const td_rescale_params *restrict p, const int32_t *in, int8_t *out);
void td_rescale_s32_u8(const td_rescale_params *restrict p, const int32_t *in, uint8_t *out);
void td_rescale_s32_s16(const td_rescale_params *restrict p, const int32_t *in, int16_t *out);
void td_rescale_s32_s32(const td_rescale_params *restrict p, const int32_t *in, int32_t *out);

/* Runs of int16 (td_copy.h; sizes and steps in bytes) that are rescaled on the way; p->size is not used. */
void td_rescale_blocks_s16(const td_blocks *restrict b, const td_rescale_params *restrict p, const void *in, void *out);

void td_slopes_s16(const td_slopes_params *restrict p, const int16_t *in, int16_t *out);

#endif
