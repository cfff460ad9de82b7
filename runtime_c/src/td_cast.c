/* td_cast.c - plain C, no mathematical library. */
#include "td_cast.h"

/* Element i modulo 2^64. */
static uint64_t td_load(const void *in, int32_t kind, int32_t i)
{
    switch (kind) {
    case 1:
        return ((const uint8_t *)in)[i];
    case -1:
        return (uint64_t)((const int8_t *)in)[i];
    case 2:
        return ((const uint16_t *)in)[i];
    case -2:
        return (uint64_t)((const int16_t *)in)[i];
    case 4:
        return ((const uint32_t *)in)[i];
    case -4:
        return (uint64_t)((const int32_t *)in)[i];
    default:
        return ((const uint64_t *)in)[i];
    }
}

static void td_store(void *out, int32_t kind, int32_t i, uint64_t x)
{
    switch (kind) {
    case TD_BOOL:
        ((uint8_t *)out)[i] = x != 0U ? 1 : 0;
        break;
    case 1:
    case -1:
        ((uint8_t *)out)[i] = (uint8_t)x;
        break;
    case 2:
    case -2:
        ((uint16_t *)out)[i] = (uint16_t)x;
        break;
    case 4:
    case -4:
        ((uint32_t *)out)[i] = (uint32_t)x;
        break;
    default:
        ((uint64_t *)out)[i] = x;
        break;
    }
}

void td_cast_int(const td_cast_params *restrict p, const void *in, void *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        td_store(out, p->to, i, td_load(in, p->from, i));
    }
}

void td_cast_int_f32(const td_cast_params *restrict p, const void *in, float *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        const uint64_t x = td_load(in, p->from, i);
        if (p->from == 8) {
            out[i] = (float)x;
        } else if (p->from == -8) {
            out[i] = (float)(int64_t)x;
        } else {
            out[i] = p->from > 0 ? (float)(uint32_t)x : (float)(int32_t)x;
        }
    }
}

void td_cast_f32_int(const td_cast_f32_params *restrict p, const float *in, void *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        const float x = in[i];
        uint64_t y = 0;
        if (p->to == TD_BOOL) {
            y = x != 0.0F ? 1U : 0U;
        } else if (x >= p->above) {
            y = (uint64_t)p->highest;
        } else if (x <= p->below) {
            y = (uint64_t)p->lowest;
        } else if (x >= 0.0F) {
            y = (uint64_t)x;
        } else if (x < 0.0F) {
            y = (uint64_t)(int64_t)x;
        }
        td_store(out, p->to, i, y);
    }
}
