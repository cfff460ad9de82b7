/* td_lstm_f32.c - plain C. */
#include "td_gates.h"

/* One unit's new cell state and hidden state from the sums of its gates i, o, f, g, which lie `hidden` apart. */
static void td_lstm_unit(const td_lstm_params *restrict p, const float *sums, int32_t j, float *c, float *h)
{
    const int32_t size = p->hidden;
    const float *const peephole = p->peephole != NULL ? p->peephole + j : NULL;
    float i = sums[j];
    float o = sums[size + j];
    float f = sums[2 * size + j];
    if (peephole != NULL) {
        i += peephole[0] * *c;
        f += peephole[2 * size] * *c;
    }
    i = td_gate(&p->f, i, p->clip);
    f = p->input_forget ? 1.0F - i : td_gate(&p->f, f, p->clip);
    *c = td_clip(f * *c + i * td_gate(&p->g, sums[3 * size + j], p->clip), p->cell_clip);
    if (peephole != NULL) {
        o += peephole[size] * *c;
    }
    *h = td_gate(&p->f, o, p->clip) * p->h.apply(*c, p->h.alpha, p->h.beta);
}

TD_INLINE void td_lstm(const td_lstm_params *restrict p, const float *x, td_matrix w, td_matrix r, float *y, float *h,
                       float *c, float *scratch)
{
    const int32_t size = p->hidden;
    for (int32_t i = 0; i < p->steps * p->batch; i++) {
        const int32_t sample = i % p->batch * size;
        float *const out = y + (p->every_step ? i * size : sample);
        for (int32_t row = 0; row < 4 * size; row++) {
            scratch[row] = p->bias != NULL ? p->bias[row] + p->bias[4 * size + row] : 0.0F;
        }
        for (int32_t row = 0; row < 4 * size; row += 4) {
            td_gate_sums4(scratch + row, x, w, row, p->inputs);
            td_gate_sums4(scratch + row, h + sample, r, row, size);
        }
        for (int32_t j = 0; j < size; j++) {
            td_lstm_unit(p, scratch, j, c + sample + j, h + sample + j);
            out[j] = h[sample + j];
        }
        x += p->inputs;
    }
}

void td_lstm_f32(const td_lstm_params *restrict p, const float *x, const float *w, const float *r, float *y, float *h,
                 float *c, float *scratch)
{
    td_lstm(p, x, td_real(w), td_real(r), y, h, c, scratch);
}

void td_lstm_f32_w8(const td_lstm_params *restrict p, const float *x, const int8_t *w, const float *w_scale,
                    const int8_t *r, const float *r_scale, float *y, float *h, float *c, float *scratch)
{
    td_lstm(p, x, td_small(w, w_scale), td_small(r, r_scale), y, h, c, scratch);
}
