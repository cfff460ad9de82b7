/* td_pairs.c - assembly for ARMv7-M and later mainline cores, plain C elsewhere. */
#include "td_pairs.h"

#if TD_USE_V7M

/* r0 windows, r1 weights, r2 and r3 activations, r4-r11 four sums of 64 bits (two pixels each: channel a, a, b, b),
 * r12 weight, lr end of windows. Frame: 0 out, 4-12 distances, 16 end of out, 20 windows, 24 end of windows, 28 where
 * to go after the first tap, 32 requantisation, 36 weights, 40 2 * zero point + 1. Eight taps are unrolled; a block
 * enters them where its rest begins. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_p_tap what\n"
        "ldrd r2, r3, [r0], #8\n"
        "ldrsb r12, [r1], #1\n"
        "\\what r4, r5, r2, r12\n"
        "\\what r6, r7, r3, r12\n"
        "ldrsb r12, [r1], #1\n"
        "\\what r8, r9, r2, r12\n"
        "\\what r10, r11, r3, r12\n"
        ".endm\n"
        /* \lo:\hi = S0 + S1 * 2^23 to \s0 = S0 and \lo = S1 */
        ".macro td_p_split s0, lo, hi\n"
        "sbfx \\s0, \\lo, #0, #23\n"
        "adds \\lo, \\lo, #0x400000\n"
        "adc \\hi, \\hi, #0\n"
        "lsr \\lo, \\lo, #23\n"
        "orr \\lo, \\lo, \\hi, lsl #9\n"
        ".endm\n"
        /* r2, r3, r12: the record */
        ".macro td_p_affine x, t\n"
        "smull \\t, \\x, \\x, r12\n"
        "adds \\t, \\t, r2\n"
        "adc \\x, \\x, r3\n"
        "ssat \\x, #8, \\x, asr #2\n"
        ".endm\n"
        /* and r1 = 2 * zero point + 1 */
        ".macro td_p_exact x, t\n"
        "add \\x, r2, \\x, lsl #1\n"
        "smull \\t, \\x, \\x, r3\n"
        "lsls \\t, \\t, #1\n"
        "adc \\x, \\x, #0\n"
        "add \\x, \\x, \\x, asr #31\n"
        "asr \\x, \\x, r12\n"
        "add \\x, \\x, r1\n"
        "ssat \\x, #8, \\x, asr #1\n"
        ".endm\n"
        ".macro td_p_function name, round\n"
        ".pushsection .text.\\name,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global \\name\n"
        ".thumb_func\n"
        ".type \\name, %function\n"
        ".global __td_stack_\\name\n"
        ".set __td_stack_\\name, 80\n"
        "\\name:\n"
        "ldr r12, [sp]\n"
        "push {r4-r11, lr}\n"
        "sub sp, #44\n"
        "ldm r3, {r4-r9}\n"
        "strd r2, r6, [sp]\n"
        "strd r7, r8, [sp, #8]\n"
        "add r5, r5, r2\n"
        "add lr, r0, r4, lsl #3\n"
        "strd r5, r0, [sp, #16]\n"
        "lsls r9, r9, #1\n"
        "adds r9, r9, #1\n"
        "subs r4, r4, #1\n" /* taps of the block's chain: 0, or 1..8 of the first round */
        "beq 1f\n"
        "subs r4, r4, #1\n"
        "and r4, r4, #7\n"
        "adds r4, r4, #1\n"
        "1:\n"
        "movs r5, #28\n"
        "muls r4, r5, r4\n"
        "adr.w r5, 9f\n"
        "subs r5, r5, r4\n"
        "orr r5, r5, #1\n"
        "strd lr, r5, [sp, #24]\n"
        "str r12, [sp, #32]\n"
        "str r9, [sp, #40]\n"
        "2:\n"
        "td_p_tap smull\n"
        "ldr pc, [sp, #28]\n"
        ".balign 4\n"
        "7:\n"
        ".rept 8\n"
        "td_p_tap smlal\n"
        ".endr\n"
        "9:\n"
        "cmp r0, lr\n"
        "bne.w 7b\n"
        "ldr r0, [sp, #32]\n"
        "str r1, [sp, #36]\n"
        "ldr r1, [sp, #40]\n"
        "ldm r0!, {r2, r3, r12}\n"
        "td_p_split lr, r4, r5\n"
        "\\round lr, r5\n"
        "\\round r4, r5\n"
        "td_p_split r5, r6, r7\n"
        "\\round r5, r7\n"
        "\\round r6, r7\n"
        "ldm r0!, {r2, r3, r12}\n"
        "td_p_split r7, r8, r9\n"
        "\\round r7, r9\n"
        "\\round r8, r9\n"
        "bfi lr, r7, #8, #8\n"
        "bfi r4, r8, #8, #8\n"
        "td_p_split r9, r10, r11\n"
        "\\round r9, r11\n"
        "\\round r10, r11\n"
        "bfi r5, r9, #8, #8\n"
        "bfi r6, r10, #8, #8\n"
        "str r0, [sp, #32]\n"
        "ldm sp, {r0, r2, r3, r7, r8}\n"
        "strh lr, [r0]\n"
        "strh r4, [r0, r2]\n"
        "strh r5, [r0, r3]\n"
        "strh r6, [r0, r7]\n"
        "adds r0, r0, #2\n"
        "str r0, [sp]\n"
        "cmp r0, r8\n"
        "ldr r1, [sp, #36]\n"
        "ldrd r0, lr, [sp, #20]\n"
        "bne.w 2b\n"
        "add sp, #44\n"
        "pop {r4-r11, pc}\n"
        ".size \\name, . - \\name\n"
        ".popsection\n"
        ".endm\n"

        "td_p_function td_pairs_affine, td_p_affine\n"
        "td_p_function td_pairs_exact, td_p_exact\n");

#else

typedef struct {
    int64_t sum[2][2]; /* [channel][pixel pair] */
} td_pair_sums;

static td_pair_sums td_dot(const int32_t *x, const int8_t *restrict w, int32_t taps)
{
    td_pair_sums s = {{{0, 0}, {0, 0}}};
    for (const int32_t *const end = x + 2 * taps; x != end; x += 2) {
        s.sum[0][0] += (int64_t)x[0] * w[0];
        s.sum[0][1] += (int64_t)x[1] * w[0];
        s.sum[1][0] += (int64_t)x[0] * w[1];
        s.sum[1][1] += (int64_t)x[1] * w[1];
        w += 2;
    }
    return s;
}

/* The sum of pixel i (0..3). */
static int32_t td_pixel_sum(const int64_t sums[2], int32_t i)
{
    const int64_t both = sums[i >> 1];
    const int32_t high = (int32_t)((both + (INT64_C(1) << 22)) >> 23);
    return (i & 1) != 0 ? high : (int32_t)(both - ((int64_t)high * (INT64_C(1) << 23)));
}

static int32_t td_round_exact(int32_t acc, const td_exact *restrict r, int32_t zero_point)
{
    int32_t h = td_mul_add_high(r->bias + 2 * acc, r->m, 0x80000000U, 0);
    h += h >> 31;
    return ((h >> r->shift) + 2 * zero_point + 1) >> 1;
}

TD_INLINE void td_blocks_of(const int32_t *windows, const int8_t *restrict weights, int8_t *out,
                            const td_pairs *restrict p, const void *restrict requant, int exact)
{
    for (int32_t channel = 0; channel < p->channels; channel += 2) {
        const td_pair_sums s = td_dot(windows, weights, p->taps);
        for (int32_t j = 0; j < 2; j++) {
            const td_affine *const affine = (const td_affine *)requant + channel + j;
            for (int32_t i = 0; i < 4; i++) {
                const int32_t acc = td_pixel_sum(s.sum[j], i);
                const int32_t y = exact ? td_round_exact(acc, (const td_exact *)requant + channel + j, p->zero_point)
                                        : td_requant_affine(acc, affine, 2);
                out[channel + j + (i == 0 ? 0 : p->distance[i - 1])] = (int8_t)td_clamp(y, -128, 127);
            }
        }
        weights += 2 * p->taps;
    }
}

void td_pairs_affine(const int32_t *windows, const int8_t *restrict weights, int8_t *out, const td_pairs *restrict p,
                     const td_affine *restrict requant)
{
    td_blocks_of(windows, weights, out, p, requant, 0);
}

void td_pairs_exact(const int32_t *windows, const int8_t *restrict weights, int8_t *out, const td_pairs *restrict p,
                    const td_exact *restrict requant)
{
    td_blocks_of(windows, weights, out, p, requant, 1);
}

#endif
