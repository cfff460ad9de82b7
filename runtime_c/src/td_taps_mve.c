/* td_taps_mve.c - taps of a depthwise window: assembly for the vector extension, plain C elsewhere. */
#include "td_taps_mve.h"

#if TD_USE_MVE

/* r0 list of taps, r1 stream, r2 out, r3 channel, r4 r5 pixels, r6 list's start, r7 where to go first, r8 where to
 * enter the chain, r9 zero point, r10 one, r11 list's end, lr channels left (tail predication); q4 sums of even
 * channels, q5 of odd ones. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_t_pair\n"
        "ldrd r4, r5, [r0], #8\n"
        "add.w r4, r4, r3\n"
        "add.w r5, r5, r3\n"
        "vldrb.s16 q0, [r4]\n"
        "vldrb.s16 q1, [r1], #8\n"
        "vmul.i16 q0, q0, q1\n"
        "vldrb.s16 q2, [r5]\n"
        "vldrb.s16 q3, [r1], #8\n"
        "vmul.i16 q2, q2, q3\n"
        "vadd.i16 q0, q0, q2\n"
        "vmovlb.s16 q1, q0\n"
        "vmovlt.s16 q2, q0\n"
        "vadd.i32 q4, q4, q1\n"
        "vadd.i32 q5, q5, q2\n"
        ".endm\n"

        ".pushsection .text.td_taps_exact_mve,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global td_taps_exact_mve\n"
        ".thumb_func\n"
        ".type td_taps_exact_mve, %function\n"
        ".global __td_stack_td_taps_exact_mve\n"
        ".set __td_stack_td_taps_exact_mve, 68\n"
        "td_taps_exact_mve:\n"
        "push {r4-r11, lr}\n"
        "vpush {d8-d11}\n"
        "ldr r12, [r3, #4]\n"
        "ldr r9, [r3, #8]\n"
        "ldr r4, [r3]\n"
        "mov r6, r0\n"
        "add r11, r0, r4, lsl #2\n"
        "mov r10, #1\n"
        "ldr r3, [r3, #12]\n"
        "lsrs r4, r4, #1\n"
        "and r5, r4, #7\n"
        "mov r7, #0\n"
        "adc r7, r7, #0\n"
        "cbz r4, 1f\n"
        "cbnz r5, 1f\n"
        "movs r5, #8\n"
        "1:\n"
        "movs r4, #56\n"
        "mul r5, r5, r4\n"
        "adr.w r8, 9f\n"
        "sub r8, r8, r5\n"
        "orr r8, r8, #1\n"
        "cmp r7, #0\n"
        "adr.w r7, 4f\n"
        "orr r7, r7, #1\n"
        "it eq\n"
        "moveq r7, r8\n"
        "dlstp.16 lr, r12\n"
        "2:\n"
        "vldrw.u32 q4, [r1], #16\n"
        "vldrw.u32 q5, [r1], #16\n"
        "mov r0, r6\n"
        "bx r7\n"
        ".balign 4\n"
        "4:\n"
        "ldr r4, [r0], #4\n"
        "add r4, r4, r3\n"
        "vldrb.s16 q0, [r4]\n"
        "vldrb.s16 q1, [r1], #8\n"
        "vmul.i16 q0, q0, q1\n"
        "vmovlb.s16 q1, q0\n"
        "vmovlt.s16 q2, q0\n"
        "vadd.i32 q4, q4, q1\n"
        "vadd.i32 q5, q5, q2\n"
        "bx r8\n"
        ".balign 4\n"
        "7:\n"
        ".rept 8\n"
        "td_t_pair\n"
        ".endr\n"
        "9:\n"
        "cmp r0, r11\n"
        "bne.w 7b\n"
        "vldrw.u32 q0, [r1], #16\n"
        "vldrw.u32 q1, [r1], #16\n"
        "vqrdmulh.s32 q4, q4, q0\n"
        "vqrdmulh.s32 q5, q5, q1\n"
        /* halves away from zero: one less where negative, then halves up */
        "vqdmlah.s32 q4, q4, r10\n"
        "vqdmlah.s32 q5, q5, r10\n"
        "vldrw.u32 q0, [r1], #16\n"
        "vldrw.u32 q1, [r1], #16\n"
        "vrshl.s32 q4, q4, q0\n"
        "vrshl.s32 q5, q5, q1\n"
        "vqmovnb.s32 q4, q4\n"
        "vqmovnt.s32 q4, q5\n"
        "vqadd.s16 q4, q4, r9\n"
        "vqmovnb.s16 q4, q4\n"
        "vstrb.16 q4, [r2], #8\n"
        "adds r3, #8\n"
        "letp lr, 2b\n"
        "vpop {d8-d11}\n"
        "pop {r4-r11, pc}\n"
        ".size td_taps_exact_mve, . - td_taps_exact_mve\n"
        ".popsection\n");

#else

void td_taps_exact_mve(const int8_t *const *taps, const int32_t *restrict stream, int8_t *out,
                       const td_taps_mve *restrict p)
{
    for (int32_t c = 0; c < p->channels; c += 8) {
        const int8_t *const w = (const int8_t *)(stream + 8);
        const int32_t *const scales = stream + 8 + 2 * p->taps;
        for (int32_t j = 0; j < 8 && c + j < p->channels; j++) {
            const int32_t lane = j % 2 * 4 + j / 2;
            int32_t sum = stream[lane];
            for (int32_t i = 0; i < p->taps; i++) {
                sum += taps[i][p->offset + c + j] * w[8 * i + j];
            }
            const int32_t y = td_multiply_double(sum, scales[lane], scales[8 + lane]) + p->zero_point;
            out[c + j] = (int8_t)td_clamp(y, -128, 127);
        }
        stream = scales + 16;
    }
}

#endif
