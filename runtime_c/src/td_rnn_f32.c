/* td_rnn_f32.c - plain C. */
#include "td_gates.h"

void td_rnn_f32(const td_rnn_params *restrict p, const float *x, const float *w, const float *r, float *y, float *h,
                float *scratch)
{
    const int32_t size = p->hidden;
    for (int32_t i = 0; i < p->steps * p->batch; i++) {
        float *const state = h + i % p->batch * size;
        for (int32_t j = 0; j < size; j++) {
            float sum = p->bias != NULL ? p->bias[j] + p->bias[size + j] : 0.0F;
            sum = td_gate_sum(sum, x, w + j * p->inputs, p->inputs);
            sum = td_gate_sum(sum, state, r + j * size, size);
            scratch[j] = td_gate(&p->f, sum, p->clip);
        }
        for (int32_t j = 0; j < size; j++) {
            state[j] = scratch[j];
            y[j] = scratch[j];
        }
        x += p->inputs;
        y += size;
    }
}
