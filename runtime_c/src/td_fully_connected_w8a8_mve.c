/* td_fully_connected_w8a8_mve.c - eight outputs at a time: assembly for the vector extension, plain C elsewhere. */
#include "td_fully_connected_mve.h"

#include "td_requant.h"

/* Compute `outputs` (a multiple of eight, > 0) from `inputs` (a multiple of 16, > 0); returns the end of the stream. */
const uint32_t *td_dense_affine_mve(const int8_t *x, const uint32_t *restrict stream, int8_t *out,
                                    const td_fully_connected_mve_params *restrict p);

#if TD_USE_MVE

/* Sums: r0 r2 r4 r6 r8 r10 r12 lr (VMLADAVA takes even registers only). r1 x, r3 stream, r5 end of x, r7 where to enter
 * the chain of eight steps, r9 out, r11 its end. Frame: 0 x, 4 end of x, 8 entry. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_n_step mac\n"
        "vldrb.u8 q0, [r1], #16\n"
        "vldrw.u32 q1, [r3], #16\n"
        "\\mac r0, q0, q1\n"
        "vldrw.u32 q2, [r3], #16\n"
        "\\mac r2, q0, q2\n"
        "vldrw.u32 q1, [r3], #16\n"
        "\\mac r4, q0, q1\n"
        "vldrw.u32 q2, [r3], #16\n"
        "\\mac r6, q0, q2\n"
        "vldrw.u32 q1, [r3], #16\n"
        "\\mac r8, q0, q1\n"
        "vldrw.u32 q2, [r3], #16\n"
        "\\mac r10, q0, q2\n"
        "vldrw.u32 q1, [r3], #16\n"
        "\\mac r12, q0, q1\n"
        "vldrw.u32 q2, [r3], #16\n"
        "\\mac lr, q0, q2\n"
        ".endm\n"
        ".macro td_n_scale x\n"
        "ldmia.w r3!, {r1, r5, r7}\n"
        "smlal r1, r5, \\x, r7\n"
        "ssat \\x, #8, r5\n"
        ".endm\n"

        ".pushsection .text.td_dense_affine_mve,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global td_dense_affine_mve\n"
        ".thumb_func\n"
        ".type td_dense_affine_mve, %function\n"
        ".global __td_stack_td_dense_affine_mve\n"
        ".set __td_stack_td_dense_affine_mve, 48\n"
        "td_dense_affine_mve:\n"
        "push {r4-r11, lr}\n"
        "sub sp, #12\n"
        "ldrd r4, r6, [r3]\n"
        "mov r9, r2\n"
        "add.w r11, r2, r6\n"
        "mov r3, r1\n"
        "mov r1, r0\n"
        "adds r5, r0, r4\n"
        "lsrs r4, r4, #4\n"
        "subs r4, #1\n"
        "beq 1f\n"
        "subs r4, #1\n"
        "and r4, r4, #7\n"
        "adds r4, #1\n"
        "1:\n"
        "movs r6, #68\n"
        "mul r4, r4, r6\n"
        "adr.w r7, 9f\n"
        "subs r7, r7, r4\n"
        "orr r7, r7, #1\n"
        "strd r1, r5, [sp]\n"
        "str r7, [sp, #8]\n"
        "2:\n"
        "td_n_step vmladav.s8\n"
        "bx r7\n"
        ".balign 4\n"
        "7:\n"
        ".rept 8\n"
        "td_n_step vmladava.s8\n"
        ".endr\n"
        "9:\n"
        "cmp r1, r5\n"
        "bne.w 7b\n"
        "td_n_scale r0\n"
        "td_n_scale r2\n"
        "td_n_scale r4\n"
        "td_n_scale r6\n"
        "td_n_scale r8\n"
        "td_n_scale r10\n"
        "td_n_scale r12\n"
        "td_n_scale lr\n"
        "bfi r0, r2, #8, #8\n"
        "bfi r0, r4, #16, #8\n"
        "bfi r0, r6, #24, #8\n"
        "bfi r8, r10, #8, #8\n"
        "bfi r8, r12, #16, #8\n"
        "bfi r8, lr, #24, #8\n"
        "str r0, [r9], #4\n"
        "str r8, [r9], #4\n"
        "ldmia.w sp, {r1, r5, r7}\n"
        "cmp r9, r11\n"
        "bne.w 2b\n"
        "mov r0, r3\n"
        "add sp, #12\n"
        "pop {r4-r11, pc}\n"
        ".size td_dense_affine_mve, . - td_dense_affine_mve\n"
        ".popsection\n");

#else

const uint32_t *td_dense_affine_mve(const int8_t *x, const uint32_t *restrict stream, int8_t *out,
                                    const td_fully_connected_mve_params *restrict p)
{
    for (int32_t o = 0; o < p->outputs; o += 8) {
        const int8_t *const w = (const int8_t *)stream;
        stream += 2 * p->inputs;
        for (int32_t i = 0; i < 8; i++) {
            int32_t sum = 0;
            for (int32_t k = 0; k < p->inputs; k++) {
                sum += x[k] * w[k / 16 * 128 + i * 16 + k % 16];
            }
            const int32_t y = td_mul_add_high(sum, (int32_t)stream[2], stream[0], (int32_t)stream[1]);
            out[o + i] = (int8_t)td_clamp(y, -128, 127);
            stream += 3;
        }
    }
    return stream;
}

#endif

void td_fully_connected_w8a8_mve(const td_fully_connected_mve_params *restrict p, const int8_t *in,
                                 const uint32_t *restrict stream, int8_t *out, int8_t *scratch)
{
    td_fully_connected_mve_params block = *p;
    if (p->inputs % 16 != 0) {
        for (int32_t k = 0; k < p->inputs; k++) {
            scratch[k] = in[k];
        }
        in = scratch;
        block.inputs = (p->inputs + 15) & ~15;
        for (int32_t k = p->inputs; k < block.inputs; k++) {
            scratch[k] = 0;
        }
    }
    block.outputs = p->outputs & ~7;
    if (block.outputs > 0) {
        stream = td_dense_affine_mve(in, stream, out, &block);
    }
    if (block.outputs != p->outputs) {
        int8_t last[8];
        int8_t *const to = out + block.outputs;
        block.outputs = 8;
        td_dense_affine_mve(in, stream, last, &block);
        for (int32_t i = 0; i < p->outputs % 8; i++) {
            to[i] = last[i];
        }
    }
    if (p->act_min > -128 || p->act_max < 127) {
        for (int32_t o = 0; o < p->outputs; o++) {
            out[o] = (int8_t)td_clamp(out[o], p->act_min, p->act_max);
        }
    }
}
