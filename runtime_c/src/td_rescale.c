/* td_rescale.c - plain C; 8-bit types to each other go through a table (td_lut.h). */
#include "td_rescale.h"

static inline int32_t td_rescaled(const td_rescale_params *restrict p, int32_t x)
{
    const int32_t y = td_multiply_double(x - p->in_zero_point, p->multiplier, p->shift);
    return td_clamp(td_add_wrap(y, p->zero_point), p->act_min, p->act_max);
}

#define TD_RESCALE(name, from, to)                                                                                     \
    void name(const td_rescale_params *restrict p, const from *in, to *out)                                            \
    {                                                                                                                  \
        for (int32_t i = 0; i < p->size; i++) {                                                                        \
            out[i] = (to)td_rescaled(p, in[i]);                                                                        \
        }                                                                                                              \
    }

TD_RESCALE(td_rescale_s8_s16, int8_t, int16_t)
TD_RESCALE(td_rescale_s8_s32, int8_t, int32_t)
TD_RESCALE(td_rescale_u8_s16, uint8_t, int16_t)
TD_RESCALE(td_rescale_u8_s32, uint8_t, int32_t)
TD_RESCALE(td_rescale_s16_s8, int16_t, int8_t)
TD_RESCALE(td_rescale_s16_u8, int16_t, uint8_t)
TD_RESCALE(td_rescale_s16_s16, int16_t, int16_t)
TD_RESCALE(td_rescale_s16_s32, int16_t, int32_t)
TD_RESCALE(td_rescale_s32_s8, int32_t, int8_t)
TD_RESCALE(td_rescale_s32_u8, int32_t, uint8_t)
TD_RESCALE(td_rescale_s32_s16, int32_t, int16_t)
TD_RESCALE(td_rescale_s32_s32, int32_t, int32_t)

void td_slopes_s16(const td_slopes_params *restrict p, const int16_t *in, int16_t *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        const int32_t x = in[i] - p->in_zero_point;
        const int32_t y = x >= 0 ? td_multiply_double(x, p->multiplier, p->shift)
                                 : td_multiply_double(x * p->low_sign, p->low_multiplier, p->low_shift);
        out[i] = (int16_t)td_clamp(td_add_wrap(y, p->zero_point), -32768, 32767);
    }
}

void td_rescale_blocks_s16(const td_blocks *restrict b, const td_rescale_params *restrict p, const void *in, void *out)
{
    const int16_t *x = (const int16_t *)in + b->in_offset / 2;
    int16_t *y = (int16_t *)out + b->out_offset / 2;
    for (int32_t i = 0; i < b->count; i++) {
        for (int32_t k = 0; k < b->size / 2; k++) {
            y[k] = (int16_t)td_rescaled(p, x[k]);
        }
        x += b->in_step / 2;
        y += b->out_step / 2;
    }
}
