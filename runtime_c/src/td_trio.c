/* td_trio.c - the blocks of td_trio.h in plain C, for all cores that do not have them in assembly. */
#include "td_trio.h"

#if !TD_USE_V6M

static inline void td_trio_split(uint32_t a, uint32_t b, int32_t *sums)
{
    const uint32_t rest = a - ((b & 0x7FFU) << 11);
    const int32_t s0 = (int32_t)(rest << 10) >> 10;
    const int32_t s1 = (int32_t)(a - (uint32_t)s0) >> 11;
    sums[0] += s0;
    sums[1] += s1;
    sums[2] += (int32_t)(b - (uint32_t)s1) >> 11;
}

/* Add the sums of one channel over a window; `trios`: 2 or 1. */
TD_INLINE void td_trio_sum(const uint32_t *window, const uint8_t *restrict weights, int32_t taps, int32_t *sums,
                           int32_t trios)
{
    for (int32_t i = 0; i < trios; i++) {
        const uint32_t *word = window + 2 * i;
        uint32_t a = word[0];
        uint32_t b = word[1];
        for (int32_t k = 0; k < taps; k++) {
            word += 2 * trios;
            a += word[0] * weights[k];
            b += word[1] * weights[k];
        }
        td_trio_split(a, b, sums + 3 * i);
    }
}

enum { TD_AFFINE, TD_EXACT, TD_SHORT };

TD_INLINE int32_t td_trio_round(int32_t acc, const td_trio *restrict p, int32_t channel, int form)
{
    const td_affine *const affine = (const td_affine *)p->requant + channel;
    if (form == TD_EXACT) {
        return td_requant_exact(acc, (const td_exact *)p->requant + channel, (p->constant - 1) >> 1);
    }
    if (form == TD_AFFINE) {
        return td_requant_affine(acc, affine, p->constant - 10);
    }
    const int64_t c = (int64_t)(((uint64_t)(uint32_t)affine->c_hi << 32) | affine->c_lo);
    return (int32_t)(((int64_t)acc * affine->m + c) >> (p->part + p->constant));
}

TD_INLINE void td_trio_blocks(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out,
                              const td_trio *restrict p, int32_t trios, int form)
{
    for (int32_t c = 0; c < p->channels; c++) {
        int32_t sums[6] = {0, 0, 0, 0, 0, 0};
        for (int32_t i = 0; i < p->windows; i++) {
            td_trio_sum(windows + i * 2 * trios * (p->taps + 1), weights, p->taps, sums, trios);
            weights += p->taps;
        }
        for (int32_t i = 0; i < p->pixels; i++) {
            const int32_t acc = sums[3 * trios - p->pixels + i];
            const int32_t y = td_trio_round(acc, p, c, form);
            out[i * p->distance + c] = (int8_t)td_clamp(y, -128, 127);
        }
    }
}

TD_INLINE void td_trio_pack(const int8_t *x, int32_t taps, td_trio_packer *restrict k, int32_t trios)
{
    for (const int8_t *const end = x + taps; x != end; x++) {
        const int8_t *pixel = x;
        for (int32_t i = 0; i < trios; i++) {
            const uint32_t middle = (uint32_t)pixel[k->distance];
            const uint32_t a = (uint32_t)pixel[0] + (middle << 11);
            const uint32_t b = middle + ((uint32_t)pixel[2 * k->distance] << 11);
            *k->to++ = a;
            *k->to++ = b;
            k->starts[2 * i] += a;
            k->starts[2 * i + 1] += b;
            pixel += 3 * k->distance;
        }
    }
}

void td_trio_short6(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out, const td_trio *restrict p)
{
    td_trio_blocks(windows, weights, out, p, 2, TD_SHORT);
}

void td_trio_short3(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out, const td_trio *restrict p)
{
    td_trio_blocks(windows, weights, out, p, 1, TD_SHORT);
}

void td_trio_affine6(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out, const td_trio *restrict p)
{
    td_trio_blocks(windows, weights, out, p, 2, TD_AFFINE);
}

void td_trio_affine3(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out, const td_trio *restrict p)
{
    td_trio_blocks(windows, weights, out, p, 1, TD_AFFINE);
}

void td_trio_affine6_windows(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out,
                             const td_trio *restrict p)
{
    td_trio_blocks(windows, weights, out, p, 2, TD_AFFINE);
}

void td_trio_affine3_windows(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out,
                             const td_trio *restrict p)
{
    td_trio_blocks(windows, weights, out, p, 1, TD_AFFINE);
}

void td_trio_exact6(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out, const td_trio *restrict p)
{
    td_trio_blocks(windows, weights, out, p, 2, TD_EXACT);
}

void td_trio_exact3(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out, const td_trio *restrict p)
{
    td_trio_blocks(windows, weights, out, p, 1, TD_EXACT);
}

void td_trio_exact6_windows(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out,
                            const td_trio *restrict p)
{
    td_trio_blocks(windows, weights, out, p, 2, TD_EXACT);
}

void td_trio_exact3_windows(const uint32_t *windows, const uint8_t *restrict weights, int8_t *out,
                            const td_trio *restrict p)
{
    td_trio_blocks(windows, weights, out, p, 1, TD_EXACT);
}

void td_trio_pack6(const int8_t *x, int32_t taps, td_trio_packer *restrict k)
{
    td_trio_pack(x, taps, k, 2);
}

void td_trio_pack3(const int8_t *x, int32_t taps, td_trio_packer *restrict k)
{
    td_trio_pack(x, taps, k, 1);
}

#endif
