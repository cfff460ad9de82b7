/* td_recurrent.h - recurrent layers over all steps, forward, float32.
 *
 * td_rnn_f32    h = f(x w + h r + bias)
 * td_gru_f32    h = (1 - z) * n + z * h;  gates z, r;  n = g(x w + (r * h) r_n + bias), or with linear_before_reset
 *               n = g((x w + bias of w) + r * (h r_n + bias of r))
 * td_lstm_f32   c = f * c + i * g;  h = o * act(c);  gates in the order i, o, f, g
 *
 * x      [steps, batch, inputs]
 * w, r   [gates * hidden, inputs] and [gates * hidden, hidden]
 * bias   [2 * gates * hidden]: that of w, then that of r; NULL for 0
 * y      [steps, batch, hidden]: h after each step; [1, batch, hidden] without every_step
 * h, c   [batch, hidden]: the states, read and written; td_state_begin fills them
 * scratch  rnn: hidden, gru: 3 * hidden, lstm: 4 * hidden floats
 *
 * td_*_f32_w8: w and r are int8 and stand for themselves times the scale of their row (w_scale, r_scale).
 *
 * A gate's sum is bias of w + bias of r (0 without), then the products with x, then those with h, each in rising order;
 * then peepholes, then the clip.
 * Source: ONNX RNN, GRU, LSTM.
 */
#ifndef TD_RECURRENT_H
#define TD_RECURRENT_H

#include "td_arch.h"

typedef struct {
    float (*apply)(float x, float alpha, float beta);
    float alpha;
    float beta;
} td_activation;

typedef struct {
    int32_t steps;
    int32_t batch;
    int32_t inputs;
    int32_t hidden;
    float clip; /* of what goes into an activation; 0 for none */
    const float *bias;
    td_activation f;
    int32_t every_step; /* 0: y is the last step alone */
} td_rnn_params;

typedef struct {
    int32_t steps;
    int32_t batch;
    int32_t inputs;
    int32_t hidden;
    float clip;
    const float *bias;
    td_activation f;
    td_activation g;
    int32_t every_step;
    int32_t linear_before_reset;
} td_gru_params;

typedef struct {
    int32_t steps;
    int32_t batch;
    int32_t inputs;
    int32_t hidden;
    float clip;
    const float *bias;
    td_activation f; /* gates i, o, f */
    td_activation g;
    td_activation h; /* of c */
    int32_t every_step;
    int32_t input_forget;  /* f = 1 - i */
    float cell_clip;       /* of c; 0 for none */
    const float *peephole; /* [3 * hidden] of i, o, f, or NULL */
} td_lstm_params;

/* A state before the first step: `initial`, or zeros where that is NULL. */
void td_state_begin(const float *initial, int32_t size, float *state);

void td_rnn_f32(const td_rnn_params *restrict p, const float *x, const float *w, const float *r, float *y, float *h,
                float *scratch);

void td_gru_f32(const td_gru_params *restrict p, const float *x, const float *w, const float *r, float *y, float *h,
                float *scratch);

void td_lstm_f32(const td_lstm_params *restrict p, const float *x, const float *w, const float *r, float *y, float *h,
                 float *c, float *scratch);

void td_rnn_f32_w8(const td_rnn_params *restrict p, const float *x, const int8_t *w, const float *w_scale,
                   const int8_t *r, const float *r_scale, float *y, float *h, float *scratch);

void td_gru_f32_w8(const td_gru_params *restrict p, const float *x, const int8_t *w, const float *w_scale,
                   const int8_t *r, const float *r_scale, float *y, float *h, float *scratch);

void td_lstm_f32_w8(const td_lstm_params *restrict p, const float *x, const int8_t *w, const float *w_scale,
                    const int8_t *r, const float *r_scale, float *y, float *h, float *c, float *scratch);

/* Activations; alpha and beta are their constants, if they have any. */
float td_act_sigmoid(float x, float alpha, float beta);
float td_act_tanh(float x, float alpha, float beta);
float td_act_relu(float x, float alpha, float beta);
float td_act_affine(float x, float alpha, float beta);
float td_act_leaky_relu(float x, float alpha, float beta);
float td_act_thresholded_relu(float x, float alpha, float beta);
float td_act_scaled_tanh(float x, float alpha, float beta);
float td_act_hard_sigmoid(float x, float alpha, float beta);
float td_act_elu(float x, float alpha, float beta);
float td_act_softsign(float x, float alpha, float beta);
float td_act_softplus(float x, float alpha, float beta);

#endif
