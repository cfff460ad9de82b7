/* td_octets.c - assembly for ARMv7-M and ARMv6-M, plain C elsewhere. */
#include "td_octets.h"

#if TD_USE_V7M

/* r0 x, r1 weights, r2 and r3 weight words, r4-r6 and r7-r9 U, V, T, r10 end of x, r11 uvt, r12 x, lr a part of a word.
 * Eight taps are unrolled and entered where the rest begins. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_o_four r, u, v, t\n"
        "ubfx lr, \\r, #8, #16\n"
        "mla \\u, \\r, r12, \\u\n"
        "mla \\v, lr, r12, \\v\n"
        "lsr \\r, \\r, #16\n"
        "mla \\t, \\r, r12, \\t\n"
        ".endm\n"
        ".pushsection .text.td_octet_dot,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global td_octet_dot\n"
        ".thumb_func\n"
        ".type td_octet_dot, %function\n"
        ".global __td_stack_td_octet_dot\n"
        ".set __td_stack_td_octet_dot, 36\n"
        "td_octet_dot:\n"
        "push {r4-r11, lr}\n"
        "add r10, r0, r2\n"
        "mov r11, r3\n"
        "subs r2, r2, #1\n"
        "and r2, r2, #7\n"
        "adds r2, r2, #1\n"
        "movs r3, #48\n"
        "muls r2, r3, r2\n"
        "adr.w r3, 9f\n"
        "subs r3, r3, r2\n"
        "orr r3, r3, #1\n"
        "movs r4, #0\n"
        "movs r5, #0\n"
        "movs r6, #0\n"
        "movs r7, #0\n"
        "mov r8, r4\n"
        "mov r9, r4\n"
        "bx r3\n"
        ".balign 4\n"
        "7:\n"
        ".rept 8\n"
        "ldrd r2, r3, [r1], #8\n"
        "ldrsb r12, [r0], #1\n"
        "td_o_four r2, r4, r5, r6\n"
        "td_o_four r3, r7, r8, r9\n"
        ".endr\n"
        "9:\n"
        "cmp r0, r10\n"
        "bne.w 7b\n"
        "stm r11, {r4-r9}\n"
        "mov r0, r1\n"
        "pop {r4-r11, pc}\n"
        ".size td_octet_dot, . - td_octet_dot\n"
        ".popsection\n");

#elif TD_USE_V6M

/* r0 end of x, r1 minus the taps left, r2 weights, r3 and r4 weight words, r5 x, r6 a part of a word, r8-r10 and
 * r11, r12, lr U, V, T. Four taps are unrolled and entered where the rest begins. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_o_four r, u, v, t\n"
        "lsrs r6, \\r, #8\n"
        "uxth r6, r6\n"
        "muls r6, r5, r6\n"
        "add \\v, r6\n"
        "lsrs r6, \\r, #16\n"
        "muls r6, r5, r6\n"
        "add \\t, r6\n"
        "muls \\r, r5, \\r\n"
        "add \\u, \\r\n"
        ".endm\n"
        ".pushsection .text.td_octet_dot,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global td_octet_dot\n"
        ".thumb_func\n"
        ".type td_octet_dot, %function\n"
        ".global __td_stack_td_octet_dot\n"
        ".set __td_stack_td_octet_dot, 40\n"
        "td_octet_dot:\n"
        "push {r3-r7, lr}\n"
        "mov r4, r8\n"
        "mov r5, r9\n"
        "mov r6, r10\n"
        "mov r7, r11\n"
        "push {r4-r7}\n"
        "adds r0, r0, r2\n"
        "rsbs r4, r2, #0\n"
        "mov r7, r1\n"
        "movs r3, #0\n"
        "mov r8, r3\n"
        "mov r9, r3\n"
        "mov r10, r3\n"
        "mov r11, r3\n"
        "mov r12, r3\n"
        "mov lr, r3\n"
        "subs r2, r2, #1\n"
        "movs r1, #3\n"
        "ands r2, r1\n"
        "adds r2, r2, #1\n"
        "movs r1, #42\n"
        "muls r2, r1, r2\n"
        "adr r1, 8f\n"
        "adds r1, r1, #168\n"
        "subs r1, r1, r2\n"
        "adds r1, r1, #1\n"
        "mov r2, r7\n"
        "mov r7, r1\n"
        "mov r1, r4\n"
        "bx r7\n"
        ".balign 4\n"
        "8:\n"
        ".rept 4\n"
        "ldmia r2!, {r3, r4}\n"
        "ldrsb r5, [r0, r1]\n"
        "adds r1, r1, #1\n"
        "td_o_four r3, r8, r9, r10\n"
        "td_o_four r4, r11, r12, lr\n"
        ".endr\n"
        "cmp r1, #0\n"
        "bne 8b\n"
        "ldr r0, [sp, #16]\n"
        "mov r3, r8\n"
        "mov r4, r9\n"
        "mov r5, r10\n"
        "mov r6, r11\n"
        "mov r7, r12\n"
        "stmia r0!, {r3-r7}\n"
        "mov r3, lr\n"
        "str r3, [r0]\n"
        "mov r0, r2\n"
        "pop {r4-r7}\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "mov r10, r6\n"
        "mov r11, r7\n"
        "pop {r3-r7, pc}\n"
        ".size td_octet_dot, . - td_octet_dot\n"
        ".popsection\n");

#else

const uint32_t *td_octet_dot(const int8_t *x, const uint32_t *restrict weights, int32_t size, uint32_t *uvt)
{
    uint32_t sums[6] = {0, 0, 0, 0, 0, 0};
    for (const int8_t *const end = x + size; x != end; x++) {
        const uint32_t value = (uint32_t)*x;
        for (int32_t i = 0; i < 2; i++) {
            const uint32_t word = *weights++;
            sums[3 * i] += word * value;
            sums[3 * i + 1] += (word >> 8 & 0xFFFFU) * value;
            sums[3 * i + 2] += (word >> 16) * value;
        }
    }
    for (int32_t i = 0; i < 6; i++) {
        uvt[i] = sums[i];
    }
    return weights;
}

#endif
