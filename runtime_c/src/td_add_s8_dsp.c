/* td_add_s8_dsp.c - four elements at a time: assembly for ARMv7E-M and ARMv8-M DSP, plain C elsewhere. */
#include "td_add_dsp.h"

#include "td_requant.h"

/* `size` is a multiple of four, > 0. Shift 22, and 20. */
void td_sum_dsp(const td_add_dsp_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out, int32_t size);
void td_sum_dsp_wide(const td_add_dsp_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out, int32_t size);

#if TD_USE_DSP

/* r1 a, r2 b, r3 out, r4 r5 multipliers, r6 offset, r7 end of out, r8-r11 sums. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_a_four shift\n"
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
        "ssat r8, #8, r8, asr #\\shift\n"
        "ssat r9, #8, r9, asr #\\shift\n"
        "ssat r10, #8, r10, asr #\\shift\n"
        "ssat r11, #8, r11, asr #\\shift\n"
        "bfi r11, r8, #8, #8\n"
        "bfi r11, r9, #16, #8\n"
        "bfi r11, r10, #24, #8\n"
        "str r11, [r3], #4\n"
        ".endm\n"
        ".macro td_a_sum name, shift\n"

        ".pushsection .text.\\name,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global \\name\n"
        ".thumb_func\n"
        ".type \\name, %function\n"
        ".global __td_stack_\\name\n"
        ".set __td_stack_\\name, 36\n"
        "\\name:\n"
        "ldr r12, [sp]\n"
        "push {r4-r11, lr}\n"
        "ldmia.w r0, {r4, r5, r6}\n"
        "add r7, r3, r12\n"
        "lsls r12, r12, #29\n"
        "bpl 1f\n"
        "td_a_four \\shift\n"
        "cmp r3, r7\n"
        "beq 2f\n"
        "1:\n"
        "td_a_four \\shift\n"
        "td_a_four \\shift\n"
        "cmp r3, r7\n"
        "bne 1b\n"
        "2:\n"
        "pop {r4-r11, pc}\n"
        ".size \\name, . - \\name\n"
        ".popsection\n"
        ".endm\n"
        "td_a_sum td_sum_dsp, 22\n"
        "td_a_sum td_sum_dsp_wide, 20\n");

#else

static void td_sum(const td_add_dsp_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out, int32_t size,
                   int32_t shift)
{
    for (int32_t i = 0; i < size; i++) {
        const int32_t sum = (a[i] * p->a_multiplier + b[i] * p->b_multiplier + p->offset) >> shift;
        out[i] = (int8_t)td_clamp(sum, -128, 127);
    }
}

void td_sum_dsp(const td_add_dsp_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out, int32_t size)
{
    td_sum(p, a, b, out, size, 22);
}

void td_sum_dsp_wide(const td_add_dsp_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out, int32_t size)
{
    td_sum(p, a, b, out, size, 20);
}

#endif

/* What the blocks of four leave over, and a clamp within int8. */
static void td_finish(const td_add_dsp_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out, int32_t shift)
{
    const int32_t fours = p->size & ~3;
    for (int32_t i = fours; i < p->size; i++) {
        const int32_t sum = (a[i] * p->a_multiplier + b[i] * p->b_multiplier + p->offset) >> shift;
        out[i] = (int8_t)td_clamp(sum, p->act_min, p->act_max);
    }
    if (p->act_min > -128 || p->act_max < 127) {
        for (int32_t i = 0; i < fours; i++) {
            out[i] = (int8_t)td_clamp(out[i], p->act_min, p->act_max);
        }
    }
}

void td_add_s8_dsp(const td_add_dsp_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out)
{
    if (p->size >= 4) {
        td_sum_dsp(p, a, b, out, p->size & ~3);
    }
    td_finish(p, a, b, out, 22);
}

void td_add_s8_dsp_wide(const td_add_dsp_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out)
{
    if (p->size >= 4) {
        td_sum_dsp_wide(p, a, b, out, p->size & ~3);
    }
    td_finish(p, a, b, out, 20);
}
