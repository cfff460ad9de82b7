/* td_sextets.c - assembly for ARMv6-M and ARMv8-M baseline, plain C elsewhere. */
#include "td_sextets.h"

#if TD_USE_V6M

/* Sums: r0 weights, r1 x, r2 a value, r3-r6 words, r8-r11 sums, r12 end of x. Eight taps are unrolled and entered where
 * the rest begins. Rounding: r0 records, r1 sums, r2 out, r3-r7 scratch, r8 end of the sums, r9 shift. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_x_tap i\n"
        "ldrb r2, [r1, #\\i]\n"
        "ldmia r0!, {r3-r6}\n"
        "muls r3, r2, r3\n"
        "add r8, r3\n"
        "muls r4, r2, r4\n"
        "add r9, r4\n"
        "muls r5, r2, r5\n"
        "add r10, r5\n"
        "muls r6, r2, r6\n"
        "add r11, r6\n"
        ".endm\n"
        /* the three sums in \a and \b are added to what r7 points to; r2, r4, r5 lost */
        ".macro td_x_split a, b\n"
        "mov r3, \\a\n"
        "mov r5, \\b\n"
        "lsls r4, r5, #21\n"
        "lsrs r4, r4, #10\n"
        "subs r4, r3, r4\n"
        "lsls r4, r4, #10\n"
        "asrs r4, r4, #10\n"
        "subs r3, r3, r4\n"
        "asrs r3, r3, #11\n"
        "subs r5, r5, r3\n"
        "asrs r5, r5, #11\n"
        "ldr r2, [r7]\n"
        "adds r2, r2, r4\n"
        "ldr r4, [r7, #4]\n"
        "adds r3, r3, r4\n"
        "ldr r4, [r7, #8]\n"
        "adds r4, r4, r5\n"
        "stmia r7!, {r2-r4}\n"
        ".endm\n"
        ".pushsection .text.td_sextet_sums,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global td_sextet_sums\n"
        ".thumb_func\n"
        ".type td_sextet_sums, %function\n"
        ".global __td_stack_td_sextet_sums\n"
        ".set __td_stack_td_sextet_sums, 40\n"
        "td_sextet_sums:\n"
        "push {r3-r7, lr}\n"
        "mov r4, r8\n"
        "mov r5, r9\n"
        "mov r6, r10\n"
        "mov r7, r11\n"
        "push {r4-r7}\n"
        "mov r7, r0\n" /* x */
        "mov r0, r1\n"
        "adds r1, r7, r2\n"
        "mov r12, r1\n"
        "rsbs r2, r2, #0\n"
        "movs r1, #7\n"
        "ands r2, r1\n" /* taps of the first round that are not there */
        "subs r1, r7, r2\n"
        "movs r7, #20\n"
        "muls r7, r2, r7\n"
        "adr r2, 7f\n"
        "adds r7, r7, r2\n"
        "adds r7, #1\n"
        "ldmia r0!, {r3-r6}\n"
        "mov r8, r3\n"
        "mov r9, r4\n"
        "mov r10, r5\n"
        "mov r11, r6\n"
        "bx r7\n"
        ".balign 4\n"
        "7:\n"
        "td_x_tap 0\n"
        "td_x_tap 1\n"
        "td_x_tap 2\n"
        "td_x_tap 3\n"
        "td_x_tap 4\n"
        "td_x_tap 5\n"
        "td_x_tap 6\n"
        "td_x_tap 7\n"
        "adds r1, #8\n"
        "cmp r1, r12\n"
        "bne 7b\n"
        "ldr r7, [sp, #16]\n"
        "td_x_split r8, r9\n"
        "td_x_split r10, r11\n"
        "pop {r4-r7}\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "mov r10, r6\n"
        "mov r11, r7\n"
        "pop {r3-r7, pc}\n"
        ".size td_sextet_sums, . - td_sextet_sums\n"
        ".popsection\n"

        ".pushsection .text.td_sextet_round,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global td_sextet_round\n"
        ".thumb_func\n"
        ".type td_sextet_round, %function\n"
        ".global __td_stack_td_sextet_round\n"
        ".set __td_stack_td_sextet_round, 28\n"
        "td_sextet_round:\n"
        "push {r4-r7, lr}\n"
        "mov r4, r8\n"
        "mov r5, r9\n"
        "push {r4, r5}\n"
        "ldmia r3!, {r4, r5}\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "1:\n"
        "ldmia r1!, {r3}\n"
        "ldmia r0!, {r4-r6}\n"
        "ldr r7, [r0]\n"
        "muls r4, r3, r4\n"
        "adds r4, r4, r7\n"
        "asrs r4, r4, #10\n"
        "ldr r7, [r0, #4]\n"
        "muls r5, r3, r5\n"
        "adds r4, r4, r5\n"
        "adds r4, r4, r7\n"
        "asrs r4, r4, #10\n"
        "ldr r7, [r0, #8]\n"
        "muls r6, r3, r6\n"
        "adds r4, r4, r6\n"
        "adds r4, r4, r7\n"
        "mov r7, r9\n"
        "asrs r4, r7\n"
        "sxtb r5, r4\n"
        "cmp r5, r4\n"
        "beq 2f\n"
        "asrs r4, r4, #31\n"
        "movs r5, #127\n"
        "eors r5, r4\n"
        "2:\n"
        "strb r5, [r2]\n"
        "adds r2, #1\n"
        "adds r0, #12\n"
        "cmp r1, r8\n"
        "bne 1b\n"
        "pop {r4, r5}\n"
        "mov r8, r4\n"
        "mov r9, r5\n"
        "pop {r4-r7, pc}\n"
        ".size td_sextet_round, . - td_sextet_round\n"
        ".popsection\n");

#else

static void td_split(uint32_t a, uint32_t b, int32_t *sums)
{
    const int32_t s0 = (int32_t)((a - (b << 21 >> 10)) << 10) >> 10;
    const int32_t s1 = (int32_t)(a - (uint32_t)s0) >> 11;
    sums[0] += s0;
    sums[1] += s1;
    sums[2] += (int32_t)(b - (uint32_t)s1) >> 11;
}

const uint32_t *td_sextet_sums(const uint8_t *x, const uint32_t *restrict weights, int32_t taps, int32_t *sums)
{
    uint32_t s[4];
    for (int32_t i = 0; i < 4; i++) {
        s[i] = *weights++;
    }
    for (const uint8_t *const end = x + taps; x != end; x++) {
        for (int32_t i = 0; i < 4; i++) {
            s[i] += *weights++ * *x;
        }
    }
    td_split(s[0], s[1], sums);
    td_split(s[2], s[3], sums + 3);
    return weights;
}

const td_parts *td_sextet_round(const td_parts *restrict records, const int32_t *sums, int8_t *out,
                                const td_sums *restrict p)
{
    for (; sums != p->end; sums++) {
        int32_t y = (*sums * records->m0 + records->c0) >> 10;
        y = (y + *sums * records->m1 + records->c1) >> 10;
        y = (y + *sums * records->m2 + records->c2) >> p->shift;
        *out++ = (int8_t)(y < -128 ? -128 : y > 127 ? 127 : y);
        records++;
    }
    return records;
}

#endif
