/* td_add_s8_dsp.c - four elements at a time: assembly for ARMv7E-M and ARMv8-M DSP, plain C elsewhere. */
#include "td_add_dsp.h"

#include "td_requant.h"

/* `size` is a multiple of four, > 0. */
void td_sum_dsp(const td_add_dsp_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out, int32_t size);

#if TD_USE_DSP

/* r1 a, r2 b, r3 out, r4 r5 multipliers, r6 offset, r7 end of out, r8-r11 sums. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_a_four\n"
        "ldrsb.w r8, [r1, #1]\n"
        "ldrsb.w r9, [r1, #2]\n"
        "ldrsb.w r10, [r1, #3]\n"
        "ldrsb r11, [r1], #4\n"
        "mla r8, r8, r4, r6\n"
        "mla r9, r9, r4, r6\n"
        "mla r10, r10, r4, r6\n"
        "mla r11, r11, r4, r6\n"
        "ldrsb.w r12, [r2, #1]\n"
        "ldrsb.w lr, [r2, #2]\n"
        "mla r8, r12, r5, r8\n"
        "mla r9, lr, r5, r9\n"
        "ldrsb.w r12, [r2, #3]\n"
        "ldrsb lr, [r2], #4\n"
        "mla r10, r12, r5, r10\n"
        "mla r11, lr, r5, r11\n"
        "ssat r8, #8, r8, asr #20\n"
        "ssat r9, #8, r9, asr #20\n"
        "ssat r10, #8, r10, asr #20\n"
        "ssat r11, #8, r11, asr #20\n"
        "bfi r11, r8, #8, #8\n"
        "bfi r11, r9, #16, #8\n"
        "bfi r11, r10, #24, #8\n"
        "str r11, [r3], #4\n"
        ".endm\n"

        ".pushsection .text.td_sum_dsp,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global td_sum_dsp\n"
        ".thumb_func\n"
        ".type td_sum_dsp, %function\n"
        ".global __td_stack_td_sum_dsp\n"
        ".set __td_stack_td_sum_dsp, 36\n"
        "td_sum_dsp:\n"
        "ldr r12, [sp]\n"
        "push {r4-r11, lr}\n"
        "ldmia.w r0, {r4, r5, r6}\n"
        "add r7, r3, r12\n"
        "lsls r12, r12, #29\n"
        "bpl 1f\n"
        "td_a_four\n"
        "cmp r3, r7\n"
        "beq 2f\n"
        "1:\n"
        "td_a_four\n"
        "td_a_four\n"
        "cmp r3, r7\n"
        "bne 1b\n"
        "2:\n"
        "pop {r4-r11, pc}\n"
        ".size td_sum_dsp, . - td_sum_dsp\n"
        ".popsection\n");

#else

void td_sum_dsp(const td_add_dsp_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out, int32_t size)
{
    for (int32_t i = 0; i < size; i++) {
        const int32_t sum = (a[i] * p->a_multiplier + b[i] * p->b_multiplier + p->offset) >> 20;
        out[i] = (int8_t)td_clamp(sum, -128, 127);
    }
}

#endif

void td_add_s8_dsp(const td_add_dsp_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out)
{
    const int32_t fours = p->size & ~3;
    if (fours > 0) {
        td_sum_dsp(p, a, b, out, fours);
    }
    for (int32_t i = fours; i < p->size; i++) {
        const int32_t sum = (a[i] * p->a_multiplier + b[i] * p->b_multiplier + p->offset) >> 20;
        out[i] = (int8_t)td_clamp(sum, p->act_min, p->act_max);
    }
    if (p->act_min > -128 || p->act_max < 127) {
        for (int32_t i = 0; i < fours; i++) {
            out[i] = (int8_t)td_clamp(out[i], p->act_min, p->act_max);
        }
    }
}
