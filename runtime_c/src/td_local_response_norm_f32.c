/* td_local_response_norm_f32.c - plain C. */
#include "td_local_response_norm.h"
#include "td_math.h"

void td_local_response_norm_f32(const td_local_response_norm_params *restrict p, const float *in, float *out)
{
    for (int32_t row = 0; row < p->rows; row++) {
        for (int32_t c = 0; c < p->channels; c++) {
            const int32_t first = c > p->before ? c - p->before : 0;
            const int32_t last = p->after < p->channels - c ? c + p->after : p->channels - 1;
            float sum = 0.0F;
            for (int32_t k = first; k <= last; k++) {
                sum += in[k] * in[k];
            }
            out[c] = in[c] * td_powf(p->bias + p->alpha * sum, p->exponent);
        }
        in += p->channels;
        out += p->channels;
    }
}
