/* td_block_mve.c - four pixels by two channels: assembly for the vector extension, plain C elsewhere. */
#include "td_block_mve.h"

#if TD_USE_MVE

/* Sums: r0 r2 r4 r6 pixels of a, r8 r10 r12 lr of b (VMLADAVA takes even registers only). r1 windows, r3 stream,
 * r5 end of windows, r7 where to enter the chain, r9 out, r11 its end; q4 offsets. Frame: 0 windows, 4 zero point, 8
 * one. Eight steps of sixteen taps are unrolled; a block enters the chain where its rest begins. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_m_step mac\n"
        "vldrw.u32 q0, [r3], #16\n"
        "vldrw.u32 q2, [r1], #16\n"
        "\\mac r0, q0, q2\n"
        "vldrw.u32 q1, [r3], #16\n"
        "\\mac r8, q1, q2\n"
        "vldrw.u32 q3, [r1], #16\n"
        "\\mac r2, q0, q3\n"
        "\\mac r10, q1, q3\n"
        "vldrw.u32 q2, [r1], #16\n"
        "\\mac r4, q0, q2\n"
        "\\mac r12, q1, q2\n"
        "vldrw.u32 q3, [r1], #16\n"
        "\\mac r6, q0, q3\n"
        "\\mac lr, q1, q3\n"
        ".endm\n"
        ".macro td_m_function name, stack\n"
        ".pushsection .text.\\name,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global \\name\n"
        ".thumb_func\n"
        ".type \\name, %function\n"
        ".global __td_stack_\\name\n"
        ".set __td_stack_\\name, \\stack\n"
        "\\name:\n"
        ".endm\n"
        ".macro td_m_end name\n"
        ".size \\name, . - \\name\n"
        ".popsection\n"
        ".endm\n"

        "td_m_function td_block_exact_mve, 64\n"
        "push {r4-r11, lr}\n"
        "vpush {d8-d9}\n"
        "sub sp, #12\n"
        "ldmia.w r3!, {r4, r6, r8}\n"
        "vldrw.u32 q4, [r3], #16\n"
        "ldr r12, [r3]\n"
        "vmsr p0, r12\n"
        "mov r10, #1\n"
        "strd r0, r8, [sp]\n"
        "str.w r10, [sp, #8]\n"
        "mov r9, r2\n"
        "add.w r11, r2, r6\n"
        "mov r3, r1\n"
        "mov r1, r0\n"
        "adds r5, r0, r4\n"
        "lsrs r4, r4, #6\n"
        "subs r4, #1\n"
        "beq 1f\n"
        "subs r4, #1\n"
        "and r4, r4, #7\n"
        "adds r4, #1\n"
        "1:\n"
        "movs r6, #56\n"
        "mul r4, r4, r6\n"
        "adr.w r7, 9f\n"
        "subs r7, r7, r4\n"
        "orr r7, r7, #1\n"
        "2:\n"
        "td_m_step vmladav.s8\n"
        "bx r7\n"
        ".balign 4\n"
        "7:\n"
        ".rept 8\n"
        "td_m_step vmladava.s8\n"
        ".endr\n"
        "9:\n"
        "cmp r1, r5\n"
        "bne.w 7b\n"
        "vmov q0[2], q0[0], r0, r4\n"
        "vmov q0[3], q0[1], r2, r6\n"
        "vmov q1[2], q1[0], r8, r12\n"
        "vmov q1[3], q1[1], r10, lr\n"
        "ldmia.w r3!, {r0, r2, r4, r6, r8, r10}\n"
        "ldmia.w sp, {r1, r12, lr}\n"
        "vadd.i32 q0, q0, r0\n"
        "vadd.i32 q1, q1, r6\n"
        "vqrdmulh.s32 q0, q0, r2\n"
        "vqrdmulh.s32 q1, q1, r8\n"
        /* halves away from zero: one less where negative, then halves up */
        "vqdmlah.s32 q0, q0, lr\n"
        "vqdmlah.s32 q1, q1, lr\n"
        "vrshl.s32 q0, r4\n"
        "vrshl.s32 q1, r10\n"
        "vqmovnb.s32 q0, q0\n"
        "vqmovnt.s32 q0, q1\n"
        "vqadd.s16 q0, q0, r12\n"
        "vqmovnb.s16 q0, q0\n"
        "vpst\n"
        "vstrbt.16 q0, [r9, q4]\n"
        "add.w r9, r9, #2\n"
        "cmp r9, r11\n"
        "bne.w 2b\n"
        "mov r0, r3\n"
        "add sp, #12\n"
        "vpop {d8-d9}\n"
        "pop {r4-r11, pc}\n"
        "td_m_end td_block_exact_mve\n"

        "td_m_function td_spread_mve, 36\n"
        "push {r4-r11, lr}\n"
        "ldr r5, [r2, #8]\n"
        /* a kernel row: r8 from, r9 step, r10 place in the first vector, r11 that vector, r4 taps up to its end, r12
           taps after it */
        "1:\n"
        "ldr r7, [r2, #28]\n"
        "mov r8, r7\n"
        "movs.w r9, #0\n"
        "cbz r0, 2f\n"
        "ldr r8, [r0], #4\n"
        "cmp r8, r7\n"
        "beq 2f\n"
        "ldrd r7, r9, [r2]\n"
        "add r8, r8, r7\n"
        "2:\n"
        "lsr r11, r5, #4\n"
        "add r11, r1, r11, lsl #6\n"
        "ldr r12, [r2, #12]\n"
        "movs r4, #0\n"
        "ands r10, r5, #15\n"
        "beq 3f\n"
        "rsb r4, r10, #16\n"
        "cmp r4, r12\n"
        "it gt\n"
        "movgt r4, r12\n"
        "sub r12, r12, r4\n"
        "3:\n"
        "ldr r6, [r2, #24]\n"
        "4:\n"
        "mov r7, r8\n"
        "mov r3, r11\n"
        "cbz r4, 5f\n"
        "vctp.8 r4\n"
        "add r3, r11, r10\n"
        "vpstt\n"
        "vldrbt.u8 q0, [r7]\n"
        "vstrbt.8 q0, [r3]\n"
        "add r7, r8, r4\n"
        "add r3, r11, #64\n"
        "5:\n"
        "wlstp.8 lr, r12, 7f\n"
        "6:\n"
        "vldrb.u8 q0, [r7], #16\n"
        "vstrb.8 q0, [r3], #64\n"
        "letp lr, 6b\n"
        "7:\n"
        "add r8, r8, r9\n"
        "add r11, r11, #16\n"
        "subs r6, #1\n"
        "bne 4b\n"
        "ldrd r7, r6, [r2, #16]\n"
        "adds r5, r5, r7\n"
        "cmp r5, r6\n"
        "bne 1b\n"
        "pop {r4-r11, pc}\n"
        "td_m_end td_spread_mve\n");

#else

static inline int8_t td_saturate_s8(int32_t y)
{
    return (int8_t)(y < -128 ? -128 : y > 127 ? 127 : y);
}

const int32_t *td_block_exact_mve(const int8_t *windows, const int32_t *restrict stream, int8_t *out,
                                  const td_block_mve *restrict p)
{
    const int32_t steps = p->window_bytes / 64;
    for (int32_t o = 0; o < p->channels; o += 2) {
        const int8_t *const w = (const int8_t *)stream;
        const td_exact *const records = (const td_exact *)(const void *)(stream + 8 * steps);
        for (int32_t i = 0; i < 8; i++) {
            int32_t sum = 0;
            for (int32_t k = 0; k < 16 * steps; k++) {
                sum += windows[k / 16 * 64 + i / 2 * 16 + k % 16] * w[k / 16 * 32 + i % 2 * 16 + k % 16];
            }
            if ((p->lanes >> (2 * i) & 1U) == 0) {
                continue;
            }
            out[p->offsets[i] + o] = td_saturate_s8(td_requant_exact(sum, &records[i % 2], p->zero_point));
        }
        stream += 8 * steps + 6;
    }
    return stream;
}

void td_spread_mve(const int8_t *const *rows, int8_t *windows, const td_spread_mve_t *restrict p)
{
    for (int32_t at = p->at; at != p->end; at += p->row_taps) {
        const int8_t *const row = rows != NULL ? *rows++ : p->pad;
        const int8_t *from = row != p->pad ? row + p->offset : row;
        for (int32_t pixel = 0; pixel < p->pixels; pixel++) {
            for (int32_t k = at; k < at + p->taps; k++) {
                windows[k / 16 * 64 + pixel * 16 + k % 16] = from[k - at];
            }
            from += row != p->pad ? p->step : 0;
        }
    }
}

#endif
