/* td_block_dsp.c - two pixels by two channels: assembly for ARMv7E-M and ARMv8-M DSP, plain C elsewhere. */
#include "td_block_dsp.h"

#if TD_USE_DSP

/* r0 windows, r1 stream, r2-r5 weights, r6-r9 activations, sums: r10 S_a and r11 T of the first pixel, r12 S_a and lr T
 * of the second. Frame: 0 end of windows, 4 windows, 8 distance, 12 out, 16 end of out, 20 zero point, 24 and 28 where
 * to go first and second. Eight taps a step, eight steps unrolled; a block enters the chain where its rest begins. */
__asm__(
    ".syntax unified\n"
    ".thumb\n"
    ".macro td_b_add w, x0, x1\n"
    "smlad r11, \\w, \\x0, r11\n"
    "smlad lr, \\w, \\x1, lr\n"
    "sxtb16 \\w, \\w\n"
    "smlad r10, \\w, \\x0, r10\n"
    "smlad r12, \\w, \\x1, r12\n"
    ".endm\n"
    ".macro td_b_set w, x0, x1\n"
    "smuad r11, \\w, \\x0\n"
    "smuad lr, \\w, \\x1\n"
    "sxtb16 \\w, \\w\n"
    "smuad r10, \\w, \\x0\n"
    "smuad r12, \\w, \\x1\n"
    ".endm\n"
    ".macro td_b_four\n"
    "ldmia.w r1!, {r2, r3}\n"
    "ldmia.w r0!, {r6-r9}\n"
    "td_b_add r2, r6, r7\n"
    "td_b_add r3, r8, r9\n"
    ".endm\n"
    ".macro td_b_eight first\n"
    "ldmia.w r1!, {r2-r5}\n"
    "ldmia.w r0!, {r6-r9}\n"
    "\\first r2, r6, r7\n"
    "td_b_add r3, r8, r9\n"
    "ldmia.w r0!, {r6-r9}\n"
    "td_b_add r4, r6, r7\n"
    "td_b_add r5, r8, r9\n"
    ".endm\n"
    ".macro td_b_function name, stack\n"
    ".pushsection .text.\\name,\"ax\",%progbits\n"
    ".balign 4\n"
    ".global \\name\n"
    ".thumb_func\n"
    ".type \\name, %function\n"
    ".global __td_stack_\\name\n"
    ".set __td_stack_\\name, \\stack\n"
    "\\name:\n"
    ".endm\n"
    ".macro td_b_end name\n"
    ".size \\name, . - \\name\n"
    ".popsection\n"
    ".endm\n"
    /* fills the frame: r5 where an odd group is taken, `first` steps of eight taps precede the chain that ends at 9 */
    ".macro td_b_open first\n"
    "push {r4-r11, lr}\n"
    "sub sp, #36\n"
    "ldmia.w r3, {r4-r7}\n"
    "add r8, r0, r4\n"
    "add r9, r2, r6\n"
    "strd r8, r0, [sp]\n"
    "strd r5, r2, [sp, #8]\n"
    "strd r9, r7, [sp, #16]\n"
    "lsrs r2, r4, #5\n"
    "subs r2, #\\first\n"
    "beq 1f\n"
    "subs r2, #1\n"
    "and r2, r2, #7\n"
    "adds r2, #1\n"
    "1:\n"
    "movs r3, #92\n"
    "mul r2, r2, r3\n"
    "adr.w r3, 9f\n"
    "subs r3, r3, r2\n"
    "orr r3, r3, #1\n"
    "adr.w r5, 4f\n"
    "orr r5, r5, #1\n"
    "tst r4, #16\n"
    "it eq\n"
    "moveq r5, r3\n"
    "strd r5, r3, [sp, #24]\n"
    ".endm\n"
    ".macro td_b_chain\n"
    "7:\n"
    ".rept 8\n"
    "td_b_eight td_b_add\n"
    ".endr\n"
    "9:\n"
    "ldmia.w sp, {r2-r6, r9}\n"
    "cmp r0, r2\n"
    "bne.w 7b\n"
    "mov r0, r3\n"
    "sub.w r11, r11, r10\n"
    "sub.w lr, lr, r12\n"
    ".endm\n"
    ".macro td_b_close\n"
    "bfi r10, r11, #8, #8\n"
    "bfi r12, lr, #8, #8\n"
    "strh r12, [r5, r4]\n"
    "strh r10, [r5], #2\n"
    "str r5, [sp, #12]\n"
    "cmp r5, r6\n"
    "bne.w 2b\n"
    "mov r0, r1\n"
    "add sp, #36\n"
    "pop {r4-r11, pc}\n"
    ".endm\n"
    ".macro td_b_round x, m, p\n"
    "smmulr r6, \\x, \\m\n"
    "add r6, r6, \\x, asr #31\n"
    "smmlar \\x, r6, \\p, r9\n"
    "ssat \\x, #8, \\x\n"
    ".endm\n"

    "td_b_function td_block_affine_dsp, 72\n"
    "td_b_open 1\n"
    "2:\n"
    "td_b_eight td_b_set\n"
    "ldr pc, [sp, #24]\n"
    ".balign 4\n"
    "4:\n"
    "td_b_four\n"
    "ldr pc, [sp, #28]\n"
    ".balign 4\n"
    "td_b_chain\n"
    /* the second pixel's product is the first one's plus that of the difference of their sums */
    "ldmia.w r1!, {r2, r3, r7}\n"
    "sub.w r12, r12, r10\n"
    "smlal r2, r3, r10, r7\n"
    "ssat r10, #8, r3, asr #2\n"
    "smlal r2, r3, r12, r7\n"
    "ssat r12, #8, r3, asr #2\n"
    "ldmia.w r1!, {r2, r3, r7}\n"
    "sub.w lr, lr, r11\n"
    "smlal r2, r3, r11, r7\n"
    "ssat r11, #8, r3, asr #10\n"
    "smlal r2, r3, lr, r7\n"
    "ssat lr, #8, r3, asr #10\n"
    "td_b_close\n"
    "td_b_end td_block_affine_dsp\n"

    "td_b_function td_block_exact_dsp, 72\n"
    "td_b_open 0\n"
    "2:\n"
    "ldmia.w r1!, {r10, r11, r12, lr}\n"
    "ldr pc, [sp, #24]\n"
    ".balign 4\n"
    "4:\n"
    "td_b_four\n"
    "ldr pc, [sp, #28]\n"
    ".balign 4\n"
    "td_b_chain\n"
    "ldmia.w r1!, {r2, r3, r7, r8}\n"
    "lsl.w r10, r10, #1\n"
    "lsl.w r12, r12, #1\n"
    "asr.w r11, r11, #7\n"
    "asr.w lr, lr, #7\n"
    "td_b_round r10, r2, r3\n"
    "td_b_round r12, r2, r3\n"
    "td_b_round r11, r7, r8\n"
    "td_b_round lr, r7, r8\n"
    "ldr r6, [sp, #16]\n"
    "td_b_close\n"
    "td_b_end td_block_exact_dsp\n");

#else

typedef struct {
    int32_t sum[2][2]; /* [pixel][channel] */
} td_sums_dsp;

/* Sums of `groups` groups of taps; *stream moves on. */
static td_sums_dsp td_block_sums(const int16_t *windows, const uint32_t *restrict *stream, int32_t groups)
{
    td_sums_dsp s = {{{0, 0}, {0, 0}}};
    const uint32_t *restrict w = *stream;
    for (int32_t i = 0; i < 2 * groups; i++) {
        for (int32_t lane = 0; lane < 2; lane++) {
            const int32_t half = (int16_t)(w[i] >> (16 * lane));
            const int32_t a = (int8_t)(half & 0xFF);
            const int32_t b = (half - a) / 256;
            for (int32_t pixel = 0; pixel < 2; pixel++) {
                const int32_t x = windows[4 * i + 2 * pixel + lane];
                s.sum[pixel][0] += a * x;
                s.sum[pixel][1] += b * x;
            }
        }
    }
    *stream = w + 2 * groups;
    return s;
}

static inline int8_t td_saturate_s8(int32_t y)
{
    return (int8_t)(y < -128 ? -128 : y > 127 ? 127 : y);
}

const uint32_t *td_block_affine_dsp(const int16_t *windows, const uint32_t *restrict stream, int8_t *out,
                                    const td_block_dsp *restrict p)
{
    for (int32_t o = 0; o < p->channels; o += 2) {
        const td_sums_dsp s = td_block_sums(windows, &stream, p->window_bytes / 16);
        for (int32_t pixel = 1; pixel >= 0; pixel--) {
            for (int32_t j = 0; j < 2; j++) {
                const uint32_t *const r = stream + 3 * j;
                const int32_t acc = s.sum[pixel][j] * (j ? 256 : 1);
                const int32_t y = td_mul_add_high(acc, (int32_t)r[2], r[0], (int32_t)r[1]);
                out[pixel * p->distance + o + j] = td_saturate_s8(y >> (j ? 10 : 2));
            }
        }
        stream += 6;
    }
    return stream;
}

const uint32_t *td_block_exact_dsp(const int16_t *windows, const uint32_t *restrict stream, int8_t *out,
                                   const td_block_dsp *restrict p)
{
    for (int32_t o = 0; o < p->channels; o += 2) {
        const int32_t bias[2] = {(int32_t)stream[0], (int32_t)(stream[1] - stream[0]) / 256};
        stream += 4;
        const td_sums_dsp s = td_block_sums(windows, &stream, p->window_bytes / 16);
        for (int32_t pixel = 1; pixel >= 0; pixel--) {
            for (int32_t j = 0; j < 2; j++) {
                const int32_t acc = s.sum[pixel][j] + bias[j];
                const int32_t high = td_srdhm(acc, (int32_t)stream[2 * j]) - (acc < 0 ? 1 : 0);
                const int64_t rounded = ((int64_t)high * (int32_t)stream[2 * j + 1] + (INT64_C(1) << 31)) >> 32;
                out[pixel * p->distance + o + j] = td_saturate_s8((int32_t)rounded + p->zero_point);
            }
        }
        stream += 4;
    }
    return stream;
}

#endif
