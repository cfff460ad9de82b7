/* td_fixed16.h - sigmoid and hyperbolic tangent in int16, as gemmlowp computes them.
 *
 * x    int16 with `integer_bits` (0..6) integer bits: it stands for x / 2^(15 - integer_bits)
 * result Q0.15
 *
 * Exponential of minus the size by a Taylor series and a product for each bit, then three Newton steps in Q2.13.
 * Source: gemmlowp/fixedpoint.h (logistic, tanh of FixedPoint<int16_t>).
 */
#ifndef TD_FIXED16_H
#define TD_FIXED16_H

#include "td_requant.h"

int32_t td_sigmoid_q15(int32_t x, int32_t integer_bits);

int32_t td_tanh_q15(int32_t x, int32_t integer_bits);

#endif
