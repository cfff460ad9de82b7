/* td_fully_connected_sextets_w8a8.c - plain C around the blocks of td_sextets.c. */
#include "td_fully_connected_sextets.h"

#include "td_requant.h"

void td_fully_connected_sextets_w8a8(const td_fully_connected_sextets_params *restrict p, const int8_t *in,
                                     const uint32_t *restrict weights, const td_parts *restrict requant, int8_t *out,
                                     uint8_t *scratch)
{
    for (int32_t i = 0; i < p->inputs; i++) {
        scratch[i] = (uint8_t)(in[i] + 128);
    }
    for (int32_t o = 0; o < p->outputs; o += 6) {
        int32_t sums[6] = {0, 0, 0, 0, 0, 0};
        for (int32_t k = 0; k < p->inputs; k += p->together) {
            const int32_t taps = p->inputs - k < p->together ? p->inputs - k : p->together;
            weights = td_sextet_sums(scratch + k, weights, taps, sums);
        }
        const td_sums block = {sums + (p->outputs - o < 6 ? p->outputs - o : 6), p->shift};
        requant = td_sextet_round(requant, sums, out + o, &block);
    }
    if (p->act_min > -128 || p->act_max < 127) {
        td_limit(out, p->outputs, p->act_min, p->act_max);
    }
}
