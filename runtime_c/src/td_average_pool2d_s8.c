/* td_average_pool2d_s8.c - plain C: any window. */
#include "td_average_pool2d.h"

#include "td_requant.h"

/* Sum of channel c over columns first..last-1 of the rows that are inside the input. */
static int32_t td_window_sum(const td_average_pool2d_params *restrict p, const int8_t *const *rows, int32_t first,
                             int32_t last, int32_t c)
{
    const int32_t channels = p->window.in_channels;
    int32_t sum = 0;
    for (int32_t ky = 0; ky < p->window.kernel_h; ky++) {
        if (rows[ky] != p->pad) {
            const int8_t *from = rows[ky] + first * channels + c;
            for (int32_t column = first; column < last; column++) {
                sum += *from;
                from += channels;
            }
        }
    }
    return sum;
}

/* sum / count, halves away from zero; inverse = 2^24 / count rounded down, |sum| <= 128 * count, count < 2^16. */
static int32_t td_mean_of(int32_t sum, uint32_t count, uint32_t inverse)
{
    const uint32_t size = (uint32_t)(sum < 0 ? -sum : sum) + (count >> 1);
    uint32_t mean = (size * inverse) >> 24; /* right or one too small */
    mean += size - mean * count >= count ? 1U : 0U;
    return sum < 0 ? -(int32_t)mean : (int32_t)mean;
}

void td_average_pool2d_s8(const td_average_pool2d_params *restrict p, const int8_t *const *rows, int8_t *out)
{
    const td_window *const w = &p->window;
    int32_t inside = 0;
    for (int32_t ky = 0; ky < w->kernel_h; ky++) {
        inside += rows[ky] != p->pad ? 1 : 0;
    }
    int32_t last_count = 0;
    uint32_t inverse = 0;
    int32_t left = -w->pad_left;
    for (int32_t x = 0; x < p->out_width; x++) {
        const int32_t first = left > 0 ? left : 0;
        const int32_t last = left + w->kernel_w < w->in_width ? left + w->kernel_w : w->in_width;
        const int32_t real = inside * (last > first ? last - first : 0);
        const int32_t count = p->count_pad != 0 ? w->kernel_h * w->kernel_w : real;
        const int32_t padding = p->count_pad != 0 ? (count - real) * w->zero_point : 0;
        if (count != last_count) {
            last_count = count;
            inverse = (1U << 24) / (uint32_t)count;
        }
        for (int32_t c = 0; c < w->in_channels; c++) {
            const int32_t sum = td_window_sum(p, rows, first, last, c) + padding;
            *out++ = (int8_t)td_clamp(td_mean_of(sum, (uint32_t)count, inverse), p->act_min, p->act_max);
        }
        left += w->stride;
    }
}
