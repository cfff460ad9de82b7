/* td_l2_normalize_s8.c - plain C. */
#include "td_fixed.h"
#include "td_l2_normalize.h"

#define TD_HALF_SQRT_2 1518500250 /* Q0.31 */

typedef struct {
    int32_t multiplier; /* Q0.31 */
    int32_t shift;      /* to the left where positive */
} td_factor;

/* 1 / sqrt(sum), 0 taken as 1. */
static td_factor td_inverse_root(int32_t sum)
{
    int32_t right = 11;
    if (sum <= 1) {
        const td_factor one = {INT32_MAX, 0};
        return one;
    }
    while (sum >= (1 << 29)) {
        sum >>= 2;
        right++;
    }
    while (sum < (1 << 27)) {
        sum <<= 2;
        right--;
    }
    const int32_t half = td_rounding_shift(sum >> 1, 1);
    int32_t y = 1 << 28;
    for (int32_t i = 0; i < 5; i++) {
        const int32_t cube = td_shl_saturate(td_srdhm(td_srdhm(y, y), y), 6);
        y = td_shl_saturate(td_srdhm(y, (1 << 28) + (1 << 27)) - td_srdhm(cube, half), 3);
    }
    y = td_srdhm(y, TD_HALF_SQRT_2);
    const td_factor found = {right < 0 ? td_shl_wrap(y, -right) : y, right < 0 ? 0 : -right};
    return found;
}

void td_l2_normalize_s8(const td_l2_normalize_s8_params *restrict p, const int8_t *in, int8_t *out)
{
    const td_lines *const l = &p->lines;
    const int32_t lines = td_lines_count(l);
    for (int32_t n = 0; n < lines; n++) {
        td_factor factor = {0, 0};
        int32_t sum = 0;
        for (int32_t write = 0; write < 2; write++) {
            for (int32_t i = 0; i < l->reduced[0]; i++) {
                for (int32_t j = 0; j < l->reduced[1]; j++) {
                    int32_t at = td_lines_start(l, n) + i * l->reduced_step[0] + j * l->reduced_step[1];
                    for (int32_t k = 0; k < l->reduced[2]; k++) {
                        const int32_t x = in[at] - p->zero_point;
                        if (write) {
                            const int32_t y = td_multiply_double(x, factor.multiplier, factor.shift);
                            out[at] = (int8_t)td_clamp(y, -128, 127);
                        }
                        sum += x * x;
                        at += l->reduced_step[2];
                    }
                }
            }
            if (!write) {
                factor = td_inverse_root(sum);
                factor.shift += 7; /* the output's scale is 1/128 */
                sum = 0;
            }
        }
    }
}
