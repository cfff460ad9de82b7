/* td_resize_bilinear.c - plain C. */
#include "td_resize_bilinear.h"

/* A pixel of float32 from the four around it; `weights` in their order. */
static void td_pixel_f32(const float *const corners[4], const float weights[4], int32_t depth, float *out)
{
    for (int32_t c = 0; c < depth; c++) {
        float sum = corners[0][c] * weights[0];
        for (int32_t k = 1; k < 4; k++) {
            const float product = corners[k][c] * weights[k];
            sum = sum + product;
        }
        out[c] = sum;
    }
}

static void td_pixel_s8(const int8_t *const corners[4], const int32_t weights[4], int32_t depth, int8_t *out)
{
    for (int32_t c = 0; c < depth; c++) {
        int32_t sum = 0;
        for (int32_t k = 0; k < 4; k++) {
            sum += corners[k][c] * weights[k];
        }
        out[c] = (int8_t)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
    }
}

static void td_pixel_s16(const int16_t *const corners[4], const int32_t weights[4], int32_t depth, int16_t *out)
{
    for (int32_t c = 0; c < depth; c++) {
        int64_t sum = 0;
        for (int32_t k = 0; k < 4; k++) {
            sum += (int64_t)corners[k][c] * weights[k];
        }
        out[c] = (int16_t)((sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20));
    }
}

/* Corners: upper left, lower left, upper right, lower right. `one`: the distance between two pixels. */
#define TD_RESIZE(name, type, part, one)                                                                               \
    void td_resize_bilinear_##name(const td_resize *restrict p, const part *row_far, const part *column_far,           \
                                   const type *in, type *out)                                                          \
    {                                                                                                                  \
        const int32_t row = p->in_width * p->depth;                                                                    \
        for (int32_t b = 0; b < p->batches; b++) {                                                                     \
            for (int32_t y = 0; y < p->height; y++) {                                                                  \
                const type *const upper = in + p->row_at[2 * y] * row;                                                 \
                const type *const lower = in + p->row_at[2 * y + 1] * row;                                             \
                for (int32_t x = 0; x < p->width; x++) {                                                               \
                    const int32_t left = p->column_at[2 * x] * p->depth;                                               \
                    const int32_t right = p->column_at[2 * x + 1] * p->depth;                                          \
                    const type *const corners[4] = {upper + left, lower + left, upper + right, lower + right};         \
                    const part down = row_far[y];                                                                      \
                    const part across = column_far[x];                                                                 \
                    const part weights[4] = {((one)-down) * ((one)-across), down * ((one)-across),                     \
                                             ((one)-down) * across, down * across};                                    \
                    td_pixel_##name(corners, weights, p->depth, out);                                                  \
                    out += p->depth;                                                                                   \
                }                                                                                                      \
            }                                                                                                          \
            in += p->in_height * row;                                                                                  \
        }                                                                                                              \
    }

TD_RESIZE(f32, float, float, 1.0F)
TD_RESIZE(s8, int8_t, int32_t, 1024)
TD_RESIZE(s16, int16_t, int32_t, 1024)
