/* td_gather_dsp.c - windows for td_block_dsp.h: assembly for ARMv7E-M and ARMv8-M DSP, plain C elsewhere. */
#include "td_gather_dsp.h"

#if TD_USE_DSP

/* r0 rows or list, r1 windows, r2 r12 taps of the pixels, r3 rows left, r8 groups, r9 skip, r10 rest, r11 where it
 * goes, lr count. Frame: 0 and 4 offsets, 8 pad. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_g_four\n"
        "ldr r4, [r2], #4\n"
        "ldr r5, [r12], #4\n"
        "sxtb16 r6, r4, ror #8\n"
        "sxtb16 r7, r5, ror #8\n"
        "sxtb16 r4, r4\n"
        "sxtb16 r5, r5\n"
        "stmia r1!, {r4-r7}\n"
        ".endm\n"

        ".macro td_g_open name\n"
        ".pushsection .text.\\name,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global \\name\n"
        ".thumb_func\n"
        ".type \\name, %function\n"
        ".global __td_stack_\\name\n"
        ".set __td_stack_\\name, 52\n"
        "\\name:\n"
        "push {r4-r11, lr}\n"
        "sub sp, #16\n"
        "ldmia.w r2, {r3-r6, r8-r11}\n"
        "strd r3, r4, [sp]\n"
        "str r5, [sp, #8]\n"
        "mov r3, r6\n"
        ".endm\n"
        /* r2, r12: taps of a row; r3 rows */
        ".macro td_g_row name\n"
        "2:\n"
        "lsrs.w lr, r8, #1\n"
        "bcc 3f\n"
        "td_g_four\n"
        "3:\n"
        "cmp.w lr, #0\n"
        "beq 5f\n"
        "lsrs.w lr, lr, #1\n"
        "bcc 4f\n"
        "td_g_four\n"
        "td_g_four\n"
        "cmp.w lr, #0\n"
        "beq 5f\n"
        "4:\n"
        "td_g_four\n"
        "td_g_four\n"
        "td_g_four\n"
        "td_g_four\n"
        "subs.w lr, lr, #1\n"
        "bne 4b\n"
        "5:\n"
        "add r1, r1, r9\n"
        "movs.w lr, r10\n"
        "beq 8f\n"
        /* places of a group of four: 0, 8, 2, 10 */
        "6:\n"
        "ldrsb r4, [r2], #1\n"
        "ldrsb r5, [r12], #1\n"
        "strh.w r4, [r11]\n"
        "strh.w r5, [r11, #4]\n"
        "eor r11, r11, #8\n"
        "tst r11, #8\n"
        "bne 7f\n"
        "eor r11, r11, #2\n"
        "tst r11, #2\n"
        "it eq\n"
        "addeq r11, r11, #16\n"
        "7:\n"
        "subs.w lr, lr, #1\n"
        "bne 6b\n"
        "8:\n"
        "subs r3, #1\n"
        "bne.w 1b\n"
        "add sp, #16\n"
        "pop {r4-r11, pc}\n"
        ".size \\name, . - \\name\n"
        ".popsection\n"
        ".endm\n"

        "td_g_open td_gather_rows_dsp\n"
        "1:\n"
        "ldr r2, [r0], #4\n"
        "ldr r4, [sp, #8]\n"
        "mov r12, r2\n"
        "cmp r2, r4\n"
        "beq 2f\n"
        "ldrd r5, r6, [sp]\n"
        "add r2, r2, r5\n"
        "add r12, r12, r6\n"
        "td_g_row td_gather_rows_dsp\n"

        "td_g_open td_gather_list_dsp\n"
        "1:\n"
        "ldrd r2, r12, [r0], #8\n"
        "td_g_row td_gather_list_dsp\n"

        ".macro td_g_column e, o\n"
        "sxtb16 \\o, \\e, ror #8\n"
        "sxtb16 \\e, \\e\n"
        ".endm\n"

        ".pushsection .text.td_gather_three_dsp,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global td_gather_three_dsp\n"
        ".thumb_func\n"
        ".type td_gather_three_dsp, %function\n"
        ".global __td_stack_td_gather_three_dsp\n"
        ".set __td_stack_td_gather_three_dsp, 56\n"
        /* r1 r11 r12: windows of the kernel's three columns, r3 first column, r2 fourth, r10 channels, lr fours of
           channels; */
        /* frame: 0 end of rows, 4 offset, 8 pad, 12 channels */
        "td_gather_three_dsp:\n"
        "push {r4-r11, lr}\n"
        "sub sp, #20\n"
        "ldr r4, [r2]\n"
        "ldrd r5, r6, [r2, #8]\n"
        "add r6, r0, r6, lsl #2\n"
        "strd r6, r4, [sp]\n"
        "strd r5, r3, [sp, #8]\n"
        "1:\n"
        "ldr r3, [r0], #4\n"
        "ldrd r4, r5, [sp, #4]\n"
        "ldr lr, [sp, #12]\n"
        "add r11, r1, lr, lsl #2\n"
        "add r12, r1, lr, lsl #3\n"
        "cmp r3, r5\n"
        "ite eq\n"
        "moveq r10, #0\n"
        "movne r10, lr\n"
        "it ne\n"
        "addne r3, r3, r4\n"
        "add r2, r10, r10, lsl #1\n"
        "add r2, r2, r3\n"
        "lsr lr, lr, #2\n"
        "2:\n"
        "ldr r5, [r3, r10]\n"
        "ldr r8, [r3, r10, lsl #1]\n"
        "ldr r4, [r3], #4\n"
        "td_g_column r5, r7\n"
        "td_g_column r4, r6\n"
        "stmia.w r1!, {r4-r7}\n"
        "sxtb16 r6, r8\n"
        "sxtb16 r8, r8, ror #8\n"
        "stmia.w r11!, {r5-r8}\n"
        "ldr r7, [r2], #4\n"
        "td_g_column r7, r9\n"
        "stmia.w r12!, {r6-r9}\n"
        "subs.w lr, lr, #1\n"
        "bne 2b\n"
        "mov r1, r12\n"
        "ldr r4, [sp]\n"
        "cmp r0, r4\n"
        "bne 1b\n"
        "add sp, #20\n"
        "pop {r4-r11, pc}\n"
        ".size td_gather_three_dsp, . - td_gather_three_dsp\n"
        ".popsection\n");

#else

/* Where the four taps of a group stand among the eight values of two pixels. */
static const int8_t td_tap_place[4] = {0, 4, 1, 5};

/* Widen one pixel's taps of a kernel row; `pixel`: 0 or 2. */
static void td_gather_row(const int8_t *x, int16_t *windows, const td_gather_dsp *restrict p, int32_t row,
                          int32_t pixel)
{
    int16_t *const to = windows + row * (8 * p->groups + p->skip / 2);
    for (int32_t k = 0; k < 4 * p->groups; k++) {
        to[k / 4 * 8 + td_tap_place[k % 4] + pixel] = *x++;
    }
    for (int32_t k = row * p->rest; k < (row + 1) * p->rest; k++) {
        p->rest_at[k / 4 * 8 + td_tap_place[k % 4] + pixel] = *x++;
    }
}

void td_gather_rows_dsp(const int8_t *const *rows, int16_t *windows, const td_gather_dsp *restrict p)
{
    for (int32_t row = 0; row < p->rows; row++) {
        td_gather_row(rows[row] == p->pad ? p->pad : rows[row] + p->offset[0], windows, p, row, 0);
        td_gather_row(rows[row] == p->pad ? p->pad : rows[row] + p->offset[1], windows, p, row, 2);
    }
}

void td_gather_three_dsp(const int8_t *const *rows, int16_t *windows, const td_gather_dsp *restrict p, int32_t channels)
{
    td_gather_dsp two = *p;
    two.offset[1] = two.offset[0] + channels;
    td_gather_rows_dsp(rows, windows, &two);
}

void td_gather_list_dsp(const td_pointer *list, int16_t *windows, const td_gather_dsp *restrict p)
{
    for (int32_t row = 0; row < p->rows; row++) {
        td_gather_row(list[2 * row], windows, p, row, 0);
        td_gather_row(list[2 * row + 1], windows, p, row, 2);
    }
}

#endif
