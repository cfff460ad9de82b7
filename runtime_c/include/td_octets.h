/* td_octets.h - eight dot products with one vector: assembly for ARMv7-M and ARMv6-M, and a plain C twin.
 *
 * A weight word R holds four outputs as bytes b = w + 128, the first one lowest. With every x are summed
 *   U = R * x, V = (b1 + b2 * 2^8) * x, T = (b2 + b3 * 2^8) * x
 * modulo 2^32: three multiplications for four outputs. Less 128 times the sum of x in each byte, they are
 *   T = S2 + S3 * 2^8, V = S1 + S2 * 2^8, U = S0 + S1 * 2^8 + T * 2^16,
 * so S2 is known modulo 2^8, then S1 modulo 2^16, then S0 modulo 2^24 and from it all the others. The converter
 * guarantees |S| < 2^23.
 *
 * x        [size] int8, size > 0
 * weights  [size][2] words: outputs 0-3 and 4-7 of a tap
 * uvt      {U, V, T} of outputs 0-3, then of outputs 4-7
 *
 * Source: derived here.
 */
#ifndef TD_OCTETS_H
#define TD_OCTETS_H

#include "td_arch.h"

/* Sum up uvt; returns the end of the weights. */
const uint32_t *td_octet_dot(const int8_t *x, const uint32_t *restrict weights, int32_t size, uint32_t *uvt);

/* The four sums from their U, V and T; `bias`: 128 times the sum of x. */
static inline void td_octet_split(const uint32_t *restrict uvt, uint32_t bias, int32_t *restrict sums)
{
    const uint32_t bias2 = bias * 0x101U;
    const uint32_t t = uvt[2] - bias2;
    const uint32_t v = uvt[1] - bias2;
    const uint32_t u = uvt[0] - bias2 * 0x10001U - (t << 16); /* S0 + S1 * 2^8 */
    const uint32_t low = v - ((t & 0xFFU) << 8);              /* S1 modulo 2^16 */
    const int32_t s0 = (int32_t)((u - (low << 8)) << 8) >> 8;
    const int32_t s1 = (int32_t)(u - (uint32_t)s0) >> 8;
    const int32_t s2 = (int32_t)(v - (uint32_t)s1) >> 8;
    sums[0] = s0;
    sums[1] = s1;
    sums[2] = s2;
    sums[3] = (int32_t)(t - (uint32_t)s2) >> 8;
}

#endif
