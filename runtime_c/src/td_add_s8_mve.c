/* td_add_s8_mve.c - four elements at a time: assembly for the vector extension, plain C elsewhere. */
#include "td_add_mve.h"

#include "td_requant.h"

#if TD_USE_MVE

__asm__(".syntax unified\n"
        ".thumb\n"
        ".pushsection .text.td_add_s8_mve,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global td_add_s8_mve\n"
        ".thumb_func\n"
        ".type td_add_s8_mve, %function\n"
        ".global __td_stack_td_add_s8_mve\n"
        ".set __td_stack_td_add_s8_mve, 28\n"
        "td_add_s8_mve:\n"
        "push {r4-r9, lr}\n"
        "ldmia.w r0, {r4-r9, r12}\n"
        "rsb r8, r8, #0\n"
        "vdup.32 q2, r9\n"
        "vdup.32 q3, r12\n"
        "dlstp.32 lr, r7\n"
        "1:\n"
        "vldrb.s32 q0, [r1], #4\n"
        "vldrb.s32 q1, [r2], #4\n"
        "vmul.i32 q0, q0, r4\n"
        "vmla.s32 q0, q1, r5\n"
        "vadd.i32 q0, q0, r6\n"
        "vshl.s32 q0, r8\n"
        "vmax.s32 q0, q0, q2\n"
        "vmin.s32 q0, q0, q3\n"
        "vstrb.32 q0, [r3], #4\n"
        "letp lr, 1b\n"
        "pop {r4-r9, pc}\n"
        ".size td_add_s8_mve, . - td_add_s8_mve\n"
        ".popsection\n");

#else

void td_add_s8_mve(const td_add_mve_params *restrict p, const int8_t *a, const int8_t *b, int8_t *out)
{
    for (int32_t i = 0; i < p->size; i++) {
        const int32_t sum = (a[i] * p->a_multiplier + b[i] * p->b_multiplier + p->offset) >> p->shift;
        out[i] = (int8_t)td_clamp(sum, p->act_min, p->act_max);
    }
}

#endif
