/* td_rnn_f32.c - plain C. */
#include "td_gates.h"

TD_INLINE void td_rnn(const td_rnn_params *restrict p, const float *x, td_matrix w, td_matrix r, float *y, float *h,
                      float *scratch)
{
    const int32_t size = p->hidden;
    for (int32_t i = 0; i < p->steps * p->batch; i++) {
        float *const state = h + i % p->batch * size;
        float *const out = y + (p->every_step ? i : i % p->batch) * size;
        for (int32_t j = 0; j < size; j++) {
            float sum = p->bias != NULL ? p->bias[j] + p->bias[size + j] : 0.0F;
            sum = td_gate_sum(sum, x, w, j, p->inputs);
            sum = td_gate_sum(sum, state, r, j, size);
            scratch[j] = td_gate(&p->f, sum, p->clip);
        }
        for (int32_t j = 0; j < size; j++) {
            state[j] = scratch[j];
            out[j] = scratch[j];
        }
        x += p->inputs;
    }
}

void td_rnn_f32(const td_rnn_params *restrict p, const float *x, const float *w, const float *r, float *y, float *h,
                float *scratch)
{
    td_rnn(p, x, td_real(w), td_real(r), y, h, scratch);
}

void td_rnn_f32_w8(const td_rnn_params *restrict p, const float *x, const int8_t *w, const float *w_scale,
                   const int8_t *r, const float *r_scale, float *y, float *h, float *scratch)
{
    td_rnn(p, x, td_small(w, w_scale), td_small(r, r_scale), y, h, scratch);
}
