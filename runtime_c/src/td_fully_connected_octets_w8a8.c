/* td_fully_connected_octets_w8a8.c - plain C around the dot products of td_octets.c. */
#include "td_fully_connected_octets.h"

#include "td_octets.h"

void td_fully_connected_octets_w8a8(const td_fully_connected_octets_params *restrict p, const int8_t *in,
                                    const uint32_t *restrict weights, const td_affine *restrict requant, int8_t *out)
{
    const td_affine *const end = requant + p->outputs;
    uint32_t bias = 0;
    for (const int8_t *x = in; x != in + p->inputs; x++) {
        bias += (uint32_t)*x * 128U;
    }
    while (requant != end) {
        uint32_t uvt[6];
        int32_t sums[8];
        weights = td_octet_dot(in, weights, p->inputs, uvt);
        td_octet_split(uvt, bias, sums);
        td_octet_split(uvt + 3, bias, sums + 4);
        for (int32_t i = 0; i < 8 && requant != end; i++) {
            *out++ = (int8_t)td_clamp(td_requant_affine(sums[i], requant, p->shift), p->act_min, p->act_max);
            requant++;
        }
    }
}
