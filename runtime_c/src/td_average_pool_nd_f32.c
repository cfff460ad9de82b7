/* td_average_pool_nd_f32.c - average pooling of float32. */
#include "td_pool_nd.h"

#include "td_f32.h"
#include "td_walk.h"

void td_average_pool_nd_f32(const td_pool_nd_f32_params *restrict p, const float *x, float *out)
{
    const td_axes *const g = &p->axes;
    const int32_t channels = g->in_channels;
    for (int32_t n = 0; n < g->batch; n++) {
        td_walk walk = {g, {0, 0, 0}, 0, 0, 0};
        do {
            int32_t inside = 0;
            for (int32_t c = 0; c < channels; c++) {
                out[c] = 0.0F;
            }
            walk.tap = 0;
            for (int32_t pixel = td_walk_tap(&walk); pixel >= 0; pixel = td_walk_tap(&walk)) {
                const float *const from = x + pixel * channels;
                for (int32_t c = 0; c < channels; c++) {
                    out[c] += from[c];
                }
                inside++;
            }
            const float count = (float)(p->count_pad ? td_axes_taps(g) : inside);
            for (int32_t c = 0; c < channels; c++) {
                out[c] = td_clamp_f32(out[c] / count, p->low, p->high);
            }
            out += channels;
        } while (td_walk_next(&walk));
        x += td_axes_positions(g) * channels;
    }
}
