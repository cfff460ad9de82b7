/* td_taps_dsp.c - taps of a depthwise window: assembly for ARMv7E-M and ARMv8-M DSP, plain C elsewhere. */
#include "td_taps_dsp.h"

#if TD_USE_DSP

/* r0 list of taps, r1 stream, r2 channel, r3 r4 lr activations, r5-r8 weights, r9-r12 sums of four channels.
 * Frame: 0 list, 4 out less the offset, 8 last channel, 12 end of list, 16 and 20 where to go first and second, 24 zero
 * point, 28 offset. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_d_load\n"
        "ldrd r3, r4, [r0], #8\n"
        "ldr.w r3, [r3, r2]\n"
        "ldr.w r4, [r4, r2]\n"
        "ldmia.w r1!, {r5-r8}\n"
        "pkhbt lr, r3, r4, lsl #16\n"
        "pkhtb r4, r4, r3, asr #16\n"
        "sxtb16 r3, lr\n"
        "sxtb16 lr, lr, ror #8\n"
        ".endm\n"
        ".macro td_d_pair\n"
        "td_d_load\n"
        "smlad r9, r3, r5, r9\n"
        "smlad r10, lr, r6, r10\n"
        "sxtb16 r3, r4\n"
        "sxtb16 r4, r4, ror #8\n"
        "smlad r11, r3, r7, r11\n"
        "smlad r12, r4, r8, r12\n"
        ".endm\n"
        ".macro td_d_one\n"
        "ldr r3, [r0], #4\n"
        "ldr r3, [r3, r2]\n"
        "ldrd r5, r6, [r1], #8\n"
        "sxtb16 r4, r3\n"
        "sxtb16 r3, r3, ror #8\n"
        ".endm\n"
        ".macro td_d_function name, stack\n"
        ".pushsection .text.\\name,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global \\name\n"
        ".thumb_func\n"
        ".type \\name, %function\n"
        ".global __td_stack_\\name\n"
        ".set __td_stack_\\name, \\stack\n"
        "\\name:\n"
        ".endm\n"
        ".macro td_d_end name\n"
        ".size \\name, . - \\name\n"
        ".popsection\n"
        ".endm\n"
        /* r2: pairs left to the chain -> r3: where to enter it */
        ".macro td_d_entry\n"
        "cbz r2, 1f\n"
        "subs r2, #1\n"
        "and r2, r2, #7\n"
        "adds r2, #1\n"
        "1:\n"
        "movs r3, #56\n"
        "mul r2, r2, r3\n"
        "adr.w r3, 9f\n"
        "subs r3, r3, r2\n"
        "orr r3, r3, #1\n"
        ".endm\n"
        ".macro td_d_open\n"
        "push {r4-r11, lr}\n"
        "sub sp, #36\n"
        "ldmia.w r3, {r4-r7}\n"
        "sub r2, r2, r7\n"
        "strd r0, r2, [sp]\n"
        "add r5, r5, r7\n"
        "add r0, r0, r4, lsl #2\n"
        "strd r5, r0, [sp, #8]\n"
        "strd r6, r7, [sp, #24]\n"
        ".endm\n"
        ".macro td_d_chain\n"
        "7:\n"
        ".rept 8\n"
        "td_d_pair\n"
        ".endr\n"
        "9:\n"
        "ldr r3, [sp, #12]\n"
        "cmp r0, r3\n"
        "bne.w 7b\n"
        ".endm\n"
        ".macro td_d_close\n"
        "bfi r9, r10, #8, #8\n"
        "bfi r9, r11, #16, #8\n"
        "bfi r9, r12, #24, #8\n"
        "ldmia.w sp, {r0, r3, r4}\n"
        "str r9, [r3, r2]\n"
        "adds r2, #4\n"
        "cmp r2, r4\n"
        "bne.w 2b\n"
        "mov r0, r1\n"
        "add sp, #36\n"
        "pop {r4-r11, pc}\n"
        ".endm\n"
        ".macro td_d_scale a, b\n"
        "ldmia.w r1!, {r3-r8}\n"
        "smlal r3, r4, \\a, r5\n"
        "smlal r6, r7, \\b, r8\n"
        "ssat \\a, #8, r4, asr #2\n"
        "ssat \\b, #8, r7, asr #2\n"
        ".endm\n"
        ".macro td_d_round x, m, p\n"
        "lsl.w \\x, \\x, #1\n"
        "smmulr r8, \\x, \\m\n"
        "add r8, r8, \\x, asr #31\n"
        "smmlar \\x, r8, \\p, r7\n"
        "ssat \\x, #8, \\x\n"
        ".endm\n"
        ".macro td_d_exact a, b\n"
        "ldmia.w r1!, {r3-r6}\n"
        "td_d_round \\a, r3, r4\n"
        "td_d_round \\b, r5, r6\n"
        ".endm\n"

        "td_d_function td_taps_affine_dsp, 72\n"
        "td_d_open\n"
        "adr.w r5, 4f\n"
        "adr.w r6, 8f\n"
        "subs r2, r4, #1\n"
        "lsrs r2, r2, #1\n"
        "it cs\n"
        "movcs r5, r6\n"
        "orr r5, r5, #1\n"
        "td_d_entry\n"
        "strd r5, r3, [sp, #16]\n"
        "ldr r0, [sp]\n"
        "ldr r2, [sp, #28]\n"
        "2:\n"
        "ldr pc, [sp, #16]\n"
        ".balign 4\n"
        "4:\n"
        "td_d_one\n"
        "smulbb r9, r4, r5\n"
        "smulbb r10, r3, r6\n"
        "smultt r11, r4, r5\n"
        "smultt r12, r3, r6\n"
        "ldr pc, [sp, #20]\n"
        ".balign 4\n"
        "8:\n"
        "td_d_load\n"
        "smuad r9, r3, r5\n"
        "smuad r10, lr, r6\n"
        "sxtb16 r3, r4\n"
        "sxtb16 r4, r4, ror #8\n"
        "smuad r11, r3, r7\n"
        "smuad r12, r4, r8\n"
        "ldr pc, [sp, #20]\n"
        ".balign 4\n"
        "td_d_chain\n"
        "td_d_scale r9, r10\n"
        "td_d_scale r11, r12\n"
        "td_d_close\n"
        "td_d_end td_taps_affine_dsp\n"

        "td_d_function td_taps_exact_dsp, 72\n"
        "td_d_open\n"
        "adr.w r5, 4f\n"
        "orr r5, r5, #1\n"
        "and r6, r4, #1\n"
        "lsrs r2, r4, #1\n"
        "td_d_entry\n"
        "cmp r6, #0\n"
        "it eq\n"
        "moveq r5, r3\n"
        "strd r5, r3, [sp, #16]\n"
        "ldr r0, [sp]\n"
        "ldr r2, [sp, #28]\n"
        "2:\n"
        "ldmia.w r1!, {r9-r12}\n"
        "ldr pc, [sp, #16]\n"
        ".balign 4\n"
        "4:\n"
        "td_d_one\n"
        "smlabb r9, r4, r5, r9\n"
        "smlabb r10, r3, r6, r10\n"
        "smlatt r11, r4, r5, r11\n"
        "smlatt r12, r3, r6, r12\n"
        "ldr pc, [sp, #20]\n"
        ".balign 4\n"
        "td_d_chain\n"
        "ldr r7, [sp, #24]\n"
        "td_d_exact r9, r10\n"
        "td_d_exact r11, r12\n"
        "td_d_close\n"
        "td_d_end td_taps_exact_dsp\n");

#else

static inline int32_t td_saturate_s8(int32_t y)
{
    return y < -128 ? -128 : y > 127 ? 127 : y;
}

/* Adds the products of four channels from `first` on to `sum`; returns the end of the weights. */
static const uint32_t *td_taps_sums(const int8_t *const *taps, const uint32_t *restrict w, int32_t count, int32_t first,
                                    int32_t sum[4])
{
    int32_t i = count % 2;
    if (i == 1) {
        for (int32_t j = 0; j < 4; j++) {
            sum[j] += taps[0][first + j] * (int16_t)(w[j % 2] >> (j / 2 * 16));
        }
        w += 2;
    }
    for (; i < count; i += 2) {
        for (int32_t j = 0; j < 4; j++) {
            sum[j] += taps[i][first + j] * (int16_t)(w[j] & 0xFFFF) + taps[i + 1][first + j] * (int16_t)(w[j] >> 16);
        }
        w += 4;
    }
    return w;
}

const uint32_t *td_taps_affine_dsp(const int8_t *const *taps, const uint32_t *restrict stream, int8_t *out,
                                   const td_taps_dsp *restrict p)
{
    for (int32_t c = 0; c < p->channels; c += 4) {
        int32_t sum[4] = {0, 0, 0, 0};
        stream = td_taps_sums(taps, stream, p->taps, p->offset + c, sum);
        for (int32_t j = 0; j < 4; j++) {
            const int32_t y = td_mul_add_high(sum[j], (int32_t)stream[2], stream[0], (int32_t)stream[1]);
            out[c + j] = (int8_t)td_saturate_s8(y >> 2);
            stream += 3;
        }
    }
    return stream;
}

const uint32_t *td_taps_exact_dsp(const int8_t *const *taps, const uint32_t *restrict stream, int8_t *out,
                                  const td_taps_dsp *restrict p)
{
    for (int32_t c = 0; c < p->channels; c += 4) {
        int32_t sum[4];
        for (int32_t j = 0; j < 4; j++) {
            sum[j] = (int32_t)stream[j];
        }
        stream = td_taps_sums(taps, stream + 4, p->taps, p->offset + c, sum);
        for (int32_t j = 0; j < 4; j++) {
            const int32_t high = td_srdhm(sum[j], (int32_t)stream[0]) - (sum[j] < 0 ? 1 : 0);
            const int64_t rounded = ((int64_t)high * (int32_t)stream[1] + (INT64_C(1) << 31)) >> 32;
            out[c + j] = (int8_t)td_saturate_s8((int32_t)rounded + p->zero_point);
            stream += 2;
        }
    }
    return stream;
}

#endif
