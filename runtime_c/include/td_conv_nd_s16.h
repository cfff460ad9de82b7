/* td_conv_nd_s16.h - the layers of td_conv_nd.h and td_depthwise_nd.h on int16 with constant int8 weights.
 *
 * x        int16; `x_offset` is added to it
 * weights  int8, less their zero point
 * requant  a record an output channel, td_requant64.h, with the bias
 *
 * td_<layer>_s16             sums in int32, which the converter has proved to hold them; reduced multiplier
 * td_<layer>_s16_long        sums in int64
 * td_<layer>_s16_once[_long] rounded once from the real ratio (fully connected layers; ONNX files)
 * td_conv_nd_s16_exact       sums modulo 2^32, double rounding, td_requant.h (TFLite files with biases of 32 bits)
 *
 * Source: TFLite CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV, FULLY_CONNECTED 16x8.
 */
#ifndef TD_CONV_ND_S16_H
#define TD_CONV_ND_S16_H

#include "td_axes.h"
#include "td_requant64.h"

typedef struct {
    td_axes axes;
    int32_t x_offset; /* minus the zero point */
    int32_t zero_point;
    int32_t act_min;
    int32_t act_max;
} td_conv_nd_s16_params;

void td_conv_nd_s16(const td_conv_nd_s16_params *restrict p, const int16_t *x, const int8_t *weights,
                    const td_reduced *restrict requant, int16_t *out);

void td_conv_nd_s16_long(const td_conv_nd_s16_params *restrict p, const int16_t *x, const int8_t *weights,
                         const td_reduced *restrict requant, int16_t *out);

void td_conv_nd_s16_once(const td_conv_nd_s16_params *restrict p, const int16_t *x, const int8_t *weights,
                         const td_once *restrict requant, int16_t *out);

void td_conv_nd_s16_once_long(const td_conv_nd_s16_params *restrict p, const int16_t *x, const int8_t *weights,
                              const td_once *restrict requant, int16_t *out);

void td_depthwise_nd_s16(const td_conv_nd_s16_params *restrict p, const int16_t *x, const int8_t *weights,
                         const td_reduced *restrict requant, int16_t *out);

void td_depthwise_nd_s16_long(const td_conv_nd_s16_params *restrict p, const int16_t *x, const int8_t *weights,
                              const td_reduced *restrict requant, int16_t *out);

void td_depthwise_nd_s16_once(const td_conv_nd_s16_params *restrict p, const int16_t *x, const int8_t *weights,
                              const td_once *restrict requant, int16_t *out);

void td_depthwise_nd_s16_once_long(const td_conv_nd_s16_params *restrict p, const int16_t *x, const int8_t *weights,
                                   const td_once *restrict requant, int16_t *out);

void td_conv_nd_s16_exact(const td_conv_nd_s16_params *restrict p, const int16_t *x, const int8_t *weights,
                          const td_exact *restrict requant, int16_t *out);

#endif
