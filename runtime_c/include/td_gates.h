/* td_gates.h - what the recurrent kernels share: a gate's sum, its clip and its activation. */
#ifndef TD_GATES_H
#define TD_GATES_H

#include "td_recurrent.h"

/* A matrix: float32 (`real`), or int8 (`small`) that stands for small * scale[row]. */
typedef struct {
    const float *real;
    const int8_t *small;
    const float *scale;
} td_matrix;

static inline td_matrix td_real(const float *w)
{
    const td_matrix matrix = {w, NULL, NULL};
    return matrix;
}

static inline td_matrix td_small(const int8_t *w, const float *scale)
{
    const td_matrix matrix = {NULL, w, scale};
    return matrix;
}

/* sum + the products of x and a row of w, one after the other. */
TD_INLINE float td_gate_sum(float sum, const float *x, td_matrix w, int32_t row, int32_t size)
{
    if (w.real != NULL) {
        const float *const weights = w.real + row * size;
        for (int32_t k = 0; k < size; k++) {
            sum += x[k] * weights[k];
        }
    } else {
        const int8_t *const weights = w.small + row * size;
        const float scale = w.scale[row];
        for (int32_t k = 0; k < size; k++) {
            sum += x[k] * ((float)weights[k] * scale);
        }
    }
    return sum;
}

/* td_gate_sum of four rows from `row` on, which share the loads of x. */
TD_INLINE void td_gate_sums4(float *sums, const float *x, td_matrix w, int32_t row, int32_t size)
{
    float a = sums[0];
    float b = sums[1];
    float c = sums[2];
    float d = sums[3];
    if (w.real != NULL) {
        const float *const weights = w.real + row * size;
        for (int32_t k = 0; k < size; k++) {
            a += x[k] * weights[k];
            b += x[k] * weights[size + k];
            c += x[k] * weights[2 * size + k];
            d += x[k] * weights[3 * size + k];
        }
    } else {
        const int8_t *const weights = w.small + row * size;
        const float *const scale = w.scale + row;
        for (int32_t k = 0; k < size; k++) {
            a += x[k] * ((float)weights[k] * scale[0]);
            b += x[k] * ((float)weights[size + k] * scale[1]);
            c += x[k] * ((float)weights[2 * size + k] * scale[2]);
            d += x[k] * ((float)weights[3 * size + k] * scale[3]);
        }
    }
    sums[0] = a;
    sums[1] = b;
    sums[2] = c;
    sums[3] = d;
}

/* x within -clip .. clip; no limit if clip is 0. */
TD_INLINE float td_clip(float x, float clip)
{
    if (clip > 0.0F) {
        x = x > clip ? clip : x;
        x = x < -clip ? -clip : x;
    }
    return x;
}

TD_INLINE float td_gate(const td_activation *restrict a, float x, float clip)
{
    return a->apply(td_clip(x, clip), a->alpha, a->beta);
}

#endif
