/* td_sigmoid_s16.h - functions of int16 by interpolation in a table.
 *
 * td_logistic_s16  1 / (1 + exp(-x)) in steps of 2^-15
 * td_tanh_s16      tanh(x) in steps of 2^-15
 *                  x is brought to steps of 1 / (24 * 512): (x * multiplier + half) >> shift; table: 256 values of the
 *                  logistic function, a step 1/24, in steps of 2^-16
 * td_lut_s16       any function; table: 513 values, one every 128 inputs from -32768 up
 *
 * in, out  `size` int16; out may lie exactly over in, or below it
 *
 * Source: TFLite reference_integer_ops::Logistic and Tanh (int16), LUTLookup.
 */
#ifndef TD_SIGMOID_S16_H
#define TD_SIGMOID_S16_H

#include "td_arch.h"

typedef struct {
    int32_t size;
    int32_t multiplier;
    int32_t shift;
} td_sigmoid_s16_params;

/* The value of a table of 513 at x, by interpolation; neighbours differ as int16 do. */
static inline int32_t td_interpolate(const int16_t *restrict table, int32_t x)
{
    const int16_t *const entry = table + 256 + (x >> 7);
    const int32_t slope = (int16_t)(entry[1] - entry[0]);
    return (int16_t)(entry[0] + ((slope * (x & 0x7F) + 64) >> 7));
}

void td_logistic_s16(const td_sigmoid_s16_params *restrict p, const uint16_t *restrict table, const int16_t *in,
                     int16_t *out);

void td_tanh_s16(const td_sigmoid_s16_params *restrict p, const uint16_t *restrict table, const int16_t *in,
                 int16_t *out);

void td_lut_s16(const int16_t *restrict table, const int16_t *in, int32_t size, int16_t *out);

#endif
