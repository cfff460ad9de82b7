/* td_batch_norm_f32.c - plain C. */
#include "td_batch_norm.h"
#include "td_math.h"

void td_batch_norm_f32(const td_batch_norm_params *restrict p, const float *in, const float *gamma, const float *beta,
                       const float *mean, const float *variance, float *out)
{
    for (int32_t c = 0; c < p->channels; c++) {
        const float factor = gamma[c] / td_sqrtf(variance[c] + p->epsilon);
        const float shift = beta[c] - mean[c] * factor;
        int32_t at = c;
        for (int32_t row = 0; row < p->rows; row++) {
            out[at] = in[at] * factor + shift;
            at += p->channels;
        }
    }
}
