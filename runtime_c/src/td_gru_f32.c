/* td_gru_f32.c - plain C. */
#include "td_gates.h"

/* Bias and products with x of row `row`, without the bias of r if `apart`. */
static float td_gru_from_x(const td_gru_params *restrict p, const float *x, const float *w, int32_t row, int32_t apart)
{
    float sum = p->bias != NULL ? p->bias[row] : 0.0F;
    if (p->bias != NULL && !apart) {
        sum += p->bias[3 * p->hidden + row];
    }
    return td_gate_sum(sum, x, w + row * p->inputs, p->inputs);
}

/* One step of one sample; scratch: z, r * h (or r), n. */
static void td_gru_step(const td_gru_params *restrict p, const float *x, const float *w, const float *r, float *h,
                        float *scratch)
{
    const int32_t size = p->hidden;
    float *const reset = scratch + size;
    float *const n = reset + size;
    for (int32_t row = 0; row < 2 * size; row++) {
        const float sum = td_gate_sum(td_gru_from_x(p, x, w, row, 0), h, r + row * size, size);
        scratch[row] = td_gate(&p->f, sum, p->clip);
    }
    for (int32_t j = 0; j < size && !p->linear_before_reset; j++) {
        reset[j] *= h[j];
    }
    for (int32_t j = 0; j < size; j++) {
        const int32_t row = 2 * size + j;
        float sum = td_gru_from_x(p, x, w, row, p->linear_before_reset);
        if (p->linear_before_reset) {
            const float bias = p->bias != NULL ? p->bias[3 * size + row] : 0.0F;
            sum += reset[j] * td_gate_sum(bias, h, r + row * size, size);
        } else {
            sum = td_gate_sum(sum, reset, r + row * size, size);
        }
        n[j] = td_gate(&p->g, sum, p->clip);
    }
    for (int32_t j = 0; j < size; j++) {
        h[j] = (1.0F - scratch[j]) * n[j] + scratch[j] * h[j];
    }
}

void td_gru_f32(const td_gru_params *restrict p, const float *x, const float *w, const float *r, float *y, float *h,
                float *scratch)
{
    for (int32_t i = 0; i < p->steps * p->batch; i++) {
        float *const state = h + i % p->batch * p->hidden;
        td_gru_step(p, x, w, r, state, scratch);
        for (int32_t j = 0; j < p->hidden; j++) {
            y[j] = state[j];
        }
        x += p->inputs;
        y += p->hidden;
    }
}
