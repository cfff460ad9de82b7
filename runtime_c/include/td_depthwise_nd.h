/* td_depthwise_nd.h - depthwise convolutions over two axes of any batch.
 *
 * y[n][y][x][o] = finish(sum over taps of x[n][at(y, i)][at(x, k)][o / multiplier] * w[i][k][o])
 *
 * Geometry as in td_axes.h, without a divisor and with an unused depth; a tap outside the input adds nothing.
 *
 * x        [batch][height][width][in_channels]
 * weights  [taps of height][of width][out_channels]; need not be constant
 * bias     [out_channels] or a null pointer
 * out      [batch][height][width][out_channels], in rising order
 *
 * The types and what becomes of a sum: as the functions of the same suffix in td_conv_nd.h.
 */
#ifndef TD_DEPTHWISE_ND_H
#define TD_DEPTHWISE_ND_H

#include "td_conv_nd.h"

void td_depthwise_nd_f32(const td_conv_nd_f32_params *restrict p, const float *x, const float *weights,
                         const float *restrict bias, float *out);

void td_depthwise_nd_f32_w8(const td_conv_nd_f32_params *restrict p, const float *x, const int8_t *weights,
                            const float *restrict scales, const float *restrict bias, float *out);

void td_depthwise_nd_s8(const td_conv_nd_s8_params *restrict p, const int8_t *x, const int8_t *weights,
                        const td_exact *restrict requant, int8_t *out);

void td_depthwise_nd_s8_wide(const td_conv_nd_s8_params *restrict p, const int8_t *x, const int8_t *weights,
                             const td_wide *restrict requant, const int32_t *restrict bias, int8_t *out);

#endif
