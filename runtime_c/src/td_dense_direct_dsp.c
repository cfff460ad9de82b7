/* td_dense_direct_dsp.c - matrix times vector without scratch: the input is widened for every four outputs. */
#include "td_fully_connected_dsp.h"

#include "td_requant.h"

/* Compute `outputs` values, a multiple of four, > 0, from `inputs`, a multiple of eight, > 0; returns the end of the
 * stream, which is that of td_fully_connected_w8a8_dsp. */
const uint32_t *td_dense_direct_dsp(const int8_t *in, const uint32_t *restrict stream, int8_t *out,
                                    const td_fully_connected_dsp_params *restrict p);

#if TD_USE_DSP

/* r0 in, r1 stream, r2-r5 weights, r6-r9 activations, sums: r10 S_a, r11 T_ab, r12 S_c, lr T_cd (T = S_a + 256 * S_b).
 * Frame: 0 end of in, 4 in, 8 out, 12 end of out, 16 where to enter the chain. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_r_add w, x, t, s\n"
        "smlad \\t, \\w, \\x, \\t\n"
        "sxtb16 \\w, \\w\n"
        "smlad \\s, \\w, \\x, \\s\n"
        ".endm\n"
        ".macro td_r_set w, x, t, s\n"
        "smuad \\t, \\w, \\x\n"
        "sxtb16 \\w, \\w\n"
        "smuad \\s, \\w, \\x\n"
        ".endm\n"
        ".macro td_r_eight first\n"
        "ldr r7, [r0], #4\n"
        "ldr r9, [r0], #4\n"
        "sxtb16 r6, r7\n"
        "sxtb16 r7, r7, ror #8\n"
        "sxtb16 r8, r9\n"
        "sxtb16 r9, r9, ror #8\n"
        "ldmia.w r1!, {r2-r5}\n"
        "\\first r2, r6, r11, r10\n"
        "td_r_add r3, r7, r11, r10\n"
        "td_r_add r4, r8, r11, r10\n"
        "td_r_add r5, r9, r11, r10\n"
        "ldmia.w r1!, {r2-r5}\n"
        "\\first r2, r6, lr, r12\n"
        "td_r_add r3, r7, lr, r12\n"
        "td_r_add r4, r8, lr, r12\n"
        "td_r_add r5, r9, lr, r12\n"
        ".endm\n"
        ".macro td_r_function name, stack\n"
        ".pushsection .text.\\name,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global \\name\n"
        ".thumb_func\n"
        ".type \\name, %function\n"
        ".global __td_stack_\\name\n"
        ".set __td_stack_\\name, \\stack\n"
        "\\name:\n"
        ".endm\n"
        ".macro td_r_end name\n"
        ".size \\name, . - \\name\n"
        ".popsection\n"
        ".endm\n"
        ".macro td_r_open\n"
        "push {r4-r11, lr}\n"
        "sub sp, #20\n"
        "ldmia.w r3, {r4, r5}\n"
        "adds r7, r0, r4\n"
        "strd r7, r0, [sp]\n"
        "adds r5, r2, r5\n"
        "strd r2, r5, [sp, #8]\n"
        "lsrs r3, r4, #3\n"
        "subs r3, #1\n"
        "beq 1f\n"
        "subs r3, #1\n"
        "and r3, r3, #7\n"
        "adds r3, #1\n"
        "1:\n"
        "lsls r3, r3, #7\n"
        "adr.w r4, 9f\n"
        "subs r4, r4, r3\n"
        "orr r4, r4, #1\n"
        "str r4, [sp, #16]\n"
        ".endm\n"
        ".macro td_r_chain\n"
        "ldr pc, [sp, #16]\n"
        ".balign 4\n"
        "7:\n"
        ".rept 8\n"
        "td_r_eight td_r_add\n"
        ".endr\n"
        "9:\n"
        "ldr r2, [sp]\n"
        "cmp r0, r2\n"
        "bne.w 7b\n"
        "sub.w r11, r11, r10\n"
        "sub.w lr, lr, r12\n"
        ".endm\n"
        ".macro td_r_close\n"
        "bfi r10, r11, #8, #8\n"
        "bfi r10, r12, #16, #8\n"
        "bfi r10, lr, #24, #8\n"
        "ldrd r2, r3, [sp, #8]\n"
        "str r10, [r2], #4\n"
        "str r2, [sp, #8]\n"
        "ldr r0, [sp, #4]\n"
        "cmp r2, r3\n"
        "bne.w 2b\n"
        "mov r0, r1\n"
        "add sp, #20\n"
        "pop {r4-r11, pc}\n"
        ".endm\n"
        ".macro td_r_scale a, b\n"
        "ldmia.w r1!, {r2-r7}\n"
        "smlal r2, r3, \\a, r4\n"
        "smlal r5, r6, \\b, r7\n"
        "ssat \\a, #8, r3\n"
        "ssat \\b, #8, r6, asr #8\n"
        ".endm\n"
        "td_r_function td_dense_direct_dsp, 56\n"
        "td_r_open\n"
        "2:\n"
        "td_r_eight td_r_set\n"
        "td_r_chain\n"
        "td_r_scale r10, r11\n"
        "td_r_scale r12, lr\n"
        "td_r_close\n"
        "td_r_end td_dense_direct_dsp\n");

#else

const uint32_t *td_dense_direct_dsp(const int8_t *in, const uint32_t *restrict stream, int8_t *out,
                                    const td_fully_connected_dsp_params *restrict p)
{
    static const int8_t tap[8] = {0, 2, 1, 3, 4, 6, 5, 7};
    for (int32_t o = 0; o < p->outputs; o += 4) {
        int32_t sum[4] = {0, 0, 0, 0};
        for (int32_t k = 0; k < p->inputs; k += 8) {
            for (int32_t i = 0; i < 16; i++) {
                const int32_t half = (int16_t)(stream[i / 2] >> (i % 2 * 16));
                const int32_t a = (int8_t)(half & 0xFF);
                const int32_t x = in[k + tap[i % 8]];
                sum[i / 8 * 2] += a * x;
                sum[i / 8 * 2 + 1] += (half - a) / 256 * x;
            }
            stream += 8;
        }
        for (int32_t i = 0; i < 4; i++) {
            const int32_t acc = sum[i] * (i % 2 ? 256 : 1);
            const int32_t y = td_mul_add_high(acc, (int32_t)stream[2], stream[0], (int32_t)stream[1]);
            out[o + i] = (int8_t)td_clamp(y >> (i % 2 ? 8 : 0), -128, 127);
            stream += 3;
        }
    }
    return stream;
}

#endif

void td_fully_connected_w8a8_dsp_direct(const td_fully_connected_dsp_params *restrict p, const int8_t *in,
                                        const uint32_t *restrict stream, int8_t *out)
{
    td_fully_connected_dsp_params block = *p;
    block.outputs = p->outputs & ~3;
    if (block.outputs > 0) {
        stream = td_dense_direct_dsp(in, stream, out, &block);
    }
    if (block.outputs != p->outputs) {
        int8_t last[4];
        int8_t *const to = out + block.outputs;
        block.outputs = 4;
        td_dense_direct_dsp(in, stream, last, &block);
        for (int32_t i = 0; i < p->outputs % 4; i++) {
            to[i] = last[i];
        }
    }
    if (p->act_min > -128 || p->act_max < 127) {
        for (int32_t o = 0; o < p->outputs; o++) {
            out[o] = (int8_t)td_clamp(out[o], p->act_min, p->act_max);
        }
    }
}
