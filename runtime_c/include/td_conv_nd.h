/* td_conv_nd.h - convolutions, forwards or transposed, over three axes of any batch; matrix products with weights.
 *
 * y[n][z][y][x][o] = finish(sum over taps k and channels c of x[n][at(z, k)][at(y, k)][at(x, k)][c] * w[o][k][c])
 *
 * Geometry as in td_axes.h; a tap outside the input adds nothing. Axes that a layer lacks have length 1.
 *
 * x        [batch][depth][height][width][in_channels]
 * weights  [out_channels][taps of depth][of height][of width][in_channels / groups]; need not be constant
 * bias     [out_channels] or a null pointer
 * out      [batch][depth][height][width][out_channels], in rising order
 *
 * td_conv_nd_f32     float32; sums begin at 0, in the order of taps and channels, then bias, then the clamp
 * td_conv_nd_f32_w8  the same with int8 weights; each sum is multiplied by its channel's scale before the bias
 * td_conv_nd_s32     int32 modulo 2^32
 * td_conv_nd_s8      int8 with TFLite's double rounding; `offset`s are added to input and weights; sums modulo 2^32.
 *                    requant[o].bias is the bias alone
 * td_conv_nd_s8_wide the same, rounded once: y = (acc * m + c) >> shift; bias is int32 [out_channels] or null
 */
#ifndef TD_CONV_ND_H
#define TD_CONV_ND_H

#include "td_axes.h"
#include "td_requant.h"

typedef struct {
    td_axes axes;
    float low;
    float high;
} td_conv_nd_f32_params;

typedef struct {
    td_axes axes;
    int32_t x_offset; /* minus the zero point */
    int32_t w_offset;
    int32_t zero_point; /* of the output; not used by the wide form */
    int32_t act_min;
    int32_t act_max;
} td_conv_nd_s8_params;

void td_conv_nd_f32(const td_conv_nd_f32_params *restrict p, const float *x, const float *weights,
                    const float *restrict bias, float *out);

void td_conv_nd_f32_w8(const td_conv_nd_f32_params *restrict p, const float *x, const int8_t *weights,
                       const float *restrict scales, const float *restrict bias, float *out);

void td_conv_nd_s32(const td_axes *restrict p, const int32_t *x, const int32_t *weights, const int32_t *restrict bias,
                    int32_t *out);

void td_conv_nd_s8(const td_conv_nd_s8_params *restrict p, const int8_t *x, const int8_t *weights,
                   const td_exact *restrict requant, int8_t *out);

void td_conv_nd_s8_wide(const td_conv_nd_s8_params *restrict p, const int8_t *x, const int8_t *weights,
                        const td_wide *restrict requant, const int32_t *restrict bias, int8_t *out);

#endif
