/* td_sequence_lstm.h - LSTM over all steps, forward: int8 activations and weights, int16 cell state.
 *
 * c = f * c + i * g;  h = o * tanh(c)
 *
 * x        [steps, batch, inputs]
 * w, r     [4 * hidden, inputs] and [4 * hidden, hidden], gates in the order i, f, g, o
 * of_x     [4 * hidden] bias less the zero point of x times a row's sum of w
 * of_h     [4 * hidden] minus the zero point of h times a row's sum of r
 * y        [steps, batch, hidden]: h after each step; [1, batch, hidden] without every_step
 * h, c     [batch, hidden]: the states, read and written; td_state_begin_s8 and _s16 fill them
 * scratch  4 * hidden int16
 *
 * The sums over x and over h are brought to Q3.12 and saturated one after the other; sigmoid and tanh are gemmlowp's.
 * inputs and hidden are at most 2^16. Source: TFLite lstm_eval, EvalInteger8x8_16.
 */
#ifndef TD_SEQUENCE_LSTM_H
#define TD_SEQUENCE_LSTM_H

#include "td_requant.h"

typedef struct {
    int32_t steps;
    int32_t batch;
    int32_t inputs;
    int32_t hidden;
    int32_t x_multiplier[4];
    int32_t x_shift[4];
    int32_t h_multiplier[4];
    int32_t h_shift[4];
    int32_t multiplier; /* of o * tanh(c) to h */
    int32_t shift;
    int32_t zero_point;
    int32_t cell_bits;  /* fractional bits of c, 0..15 */
    int32_t clip;       /* of c; 0 for none */
    int32_t every_step; /* 0: y is the last step alone */
} td_sequence_lstm_params;

void td_state_begin_s8(const int8_t *initial, int32_t size, int8_t *state);

void td_state_begin_s16(const int16_t *initial, int32_t size, int16_t *state);

void td_sequence_lstm_s8(const td_sequence_lstm_params *restrict p, const int8_t *x, const int8_t *restrict w,
                         const int8_t *restrict r, const int32_t *restrict of_x, const int32_t *restrict of_h,
                         int8_t *y, int8_t *h, int16_t *c, int16_t *restrict scratch);

#endif
