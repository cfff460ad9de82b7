/* td_gru_f32.c - plain C. */
#include "td_gates.h"

/* Bias and products with x of row `row`, without the bias of r if `apart`. */
TD_INLINE float td_gru_from_x(const td_gru_params *restrict p, const float *x, td_matrix w, int32_t row, int32_t apart)
{
    float sum = p->bias != NULL ? p->bias[row] : 0.0F;
    if (p->bias != NULL && !apart) {
        sum += p->bias[3 * p->hidden + row];
    }
    return td_gate_sum(sum, x, w, row, p->inputs);
}

/* One step of one sample; scratch: z, r * h (or r), n. */
TD_INLINE void td_gru_step(const td_gru_params *restrict p, const float *x, td_matrix w, td_matrix r, float *h,
                           float *scratch)
{
    const int32_t size = p->hidden;
    float *const reset = scratch + size;
    float *const n = reset + size;
    for (int32_t row = 0; row < 2 * size; row++) {
        const float sum = td_gate_sum(td_gru_from_x(p, x, w, row, 0), h, r, row, size);
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
            sum += reset[j] * td_gate_sum(bias, h, r, row, size);
        } else {
            sum = td_gate_sum(sum, reset, r, row, size);
        }
        n[j] = td_gate(&p->g, sum, p->clip);
    }
    for (int32_t j = 0; j < size; j++) {
        h[j] = (1.0F - scratch[j]) * n[j] + scratch[j] * h[j];
    }
}

TD_INLINE void td_gru(const td_gru_params *restrict p, const float *x, td_matrix w, td_matrix r, float *y, float *h,
                      float *scratch)
{
    for (int32_t i = 0; i < p->steps * p->batch; i++) {
        float *const state = h + i % p->batch * p->hidden;
        float *const out = y + (p->every_step ? i : i % p->batch) * p->hidden;
        td_gru_step(p, x, w, r, state, scratch);
        for (int32_t j = 0; j < p->hidden; j++) {
            out[j] = state[j];
        }
        x += p->inputs;
    }
}

void td_gru_f32(const td_gru_params *restrict p, const float *x, const float *w, const float *r, float *y, float *h,
                float *scratch)
{
    td_gru(p, x, td_real(w), td_real(r), y, h, scratch);
}

void td_gru_f32_w8(const td_gru_params *restrict p, const float *x, const int8_t *w, const float *w_scale,
                   const int8_t *r, const float *r_scale, float *y, float *h, float *scratch)
{
    td_gru(p, x, td_small(w, w_scale), td_small(r, r_scale), y, h, scratch);
}
