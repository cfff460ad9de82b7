/* td_columns.c - assembly for ARMv7-M and later mainline cores, plain C elsewhere but for what td_columns_v6m.c has. */
#include "td_columns.h"

#if TD_USE_V7M

/* r0 table, r1 weights, r2, r3, lr columns, r4-r7 sums of the pixels, r8-r10 weights of a group, then the record,
 * r11 channel, r12 end of the table, then 2 * zero point + 1; lr is the fifth sum where there are five. Frame: 0 table,
 * 4 its end, 8 channels, 12 out, 16 requantisation, 20 2 * zero point + 1. One body a number of pixels. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_c_tap sum, x, k\n"
        ".if \\k == 0\n"
        "mla \\sum, \\x, r8, \\sum\n"
        ".elseif \\k == 1\n"
        "mla \\sum, \\x, r9, \\sum\n"
        ".elseif \\k == 2\n"
        "mla \\sum, \\x, r10, \\sum\n"
        ".endif\n"
        ".endm\n"
        ".macro td_c_column x, j, s, n\n"
        "ldrsb \\x, [\\x, r11]\n"
        "td_c_tap r4, \\x, (\\j)\n"
        ".if \\n > 1\n"
        "td_c_tap r5, \\x, (\\j - \\s)\n"
        ".endif\n"
        ".if \\n > 2\n"
        "td_c_tap r6, \\x, (\\j - 2 * \\s)\n"
        ".endif\n"
        ".if \\n > 3\n"
        "td_c_tap r7, \\x, (\\j - 3 * \\s)\n"
        ".endif\n"
        ".if \\n > 4\n"
        "td_c_tap lr, \\x, (\\j - 4 * \\s)\n"
        ".endif\n"
        ".endm\n"
        /* columns from column j on: three at once, two where lr holds the fifth sum */
        ".macro td_c_columns j, s, n\n"
        ".if (\\n - 1) * \\s + 3 - \\j >= 3 && \\n < 5\n"
        "ldm r0!, {r2, r3, lr}\n"
        "td_c_column r2, \\j, \\s, \\n\n"
        "td_c_column r3, (\\j + 1), \\s, \\n\n"
        "td_c_column lr, (\\j + 2), \\s, \\n\n"
        "td_c_columns (\\j + 3), \\s, \\n\n"
        ".elseif (\\n - 1) * \\s + 3 - \\j >= 2\n"
        "ldm r0!, {r2, r3}\n"
        "td_c_column r2, \\j, \\s, \\n\n"
        "td_c_column r3, (\\j + 1), \\s, \\n\n"
        "td_c_columns (\\j + 2), \\s, \\n\n"
        ".elseif (\\n - 1) * \\s + 3 - \\j == 1\n"
        "ldr r2, [r0], #4\n"
        "td_c_column r2, \\j, \\s, \\n\n"
        ".endif\n"
        ".endm\n"
        ".macro td_c_affine x\n"
        "smull r0, \\x, \\x, r10\n"
        "adds r0, r0, r8\n"
        "adc \\x, \\x, r9\n"
        "ssat \\x, #8, \\x, asr #2\n"
        ".endm\n"
        ".macro td_c_exact x\n"
        "add \\x, r8, \\x, lsl #1\n"
        "smull r0, \\x, \\x, r9\n"
        "lsls r0, r0, #1\n"
        "adc \\x, \\x, #0\n"
        "add \\x, \\x, \\x, asr #31\n"
        "asr \\x, \\x, r10\n"
        "add \\x, \\x, r12\n"
        "ssat \\x, #8, \\x, asr #1\n"
        ".endm\n"
        ".macro td_c_finish x, round, last\n"
        "\\round \\x\n"
        "strb \\x, [r2]\n"
        ".if !\\last\n"
        "add r2, r2, r3\n"
        ".endif\n"
        ".endm\n"
        ".macro td_c_body s, n, round\n"
        "1:\n"
        "movs r4, #0\n"
        ".if \\n > 1\n"
        "movs r5, #0\n"
        ".endif\n"
        ".if \\n > 2\n"
        "movs r6, #0\n"
        ".endif\n"
        ".if \\n > 3\n"
        "movs r7, #0\n"
        ".endif\n"
        ".if \\n > 4\n"
        "mov lr, #0\n"
        ".endif\n"
        "2:\n"
        "ldrsb r8, [r1], #1\n"
        "ldrsb r9, [r1], #1\n"
        "ldrsb r10, [r1], #1\n"
        "td_c_columns 0, \\s, \\n\n"
        "cmp r0, r12\n"
        "bne 2b\n"
        "ldrd r2, r0, [sp, #12]\n"
        "ldr r3, [sp, #8]\n"
        "ldr r12, [sp, #20]\n"
        "ldm r0!, {r8, r9, r10}\n"
        "add r2, r2, r11\n"
        "str r0, [sp, #16]\n"
        "td_c_finish r4, \\round, (\\n == 1)\n"
        ".if \\n > 1\n"
        "td_c_finish r5, \\round, (\\n == 2)\n"
        ".endif\n"
        ".if \\n > 2\n"
        "td_c_finish r6, \\round, (\\n == 3)\n"
        ".endif\n"
        ".if \\n > 3\n"
        "td_c_finish r7, \\round, (\\n == 4)\n"
        ".endif\n"
        ".if \\n > 4\n"
        "td_c_finish lr, \\round, 1\n"
        ".endif\n"
        "ldrd r0, r12, [sp]\n"
        "add r11, r11, #1\n"
        "ldr r3, [sp, #8]\n"
        "cmp r11, r3\n"
        "bne.w 1b\n"
        "b.w 9f\n"
        ".endm\n"
        ".macro td_c_function name, s, round\n"
        ".pushsection .text.\\name,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global \\name\n"
        ".thumb_func\n"
        ".type \\name, %function\n"
        ".global __td_stack_\\name\n"
        ".set __td_stack_\\name, 60\n"
        "\\name:\n"
        "ldr r12, [sp]\n"
        "push {r4-r11, lr}\n"
        "sub sp, #24\n"
        "ldm r3, {r4-r7}\n"
        "lsls r6, r6, #1\n"
        "adds r6, r6, #1\n"
        "strd r0, r4, [sp]\n"
        "strd r5, r2, [sp, #8]\n"
        "strd r12, r6, [sp, #16]\n"
        "mov r12, r4\n"
        "mov r11, #0\n"
        "cmp r7, #2\n"
        "beq.w 6f\n"
        "blo.w 5f\n"
        "cmp r7, #4\n"
        "blo.w 7f\n"
        "beq.w 8f\n"
        "td_c_body \\s, 5, \\round\n"
        "8:\n"
        "td_c_body \\s, 4, \\round\n"
        "7:\n"
        "td_c_body \\s, 3, \\round\n"
        "6:\n"
        "td_c_body \\s, 2, \\round\n"
        "5:\n"
        "td_c_body \\s, 1, \\round\n"
        "9:\n"
        "add sp, #24\n"
        "pop {r4-r11, pc}\n"
        ".size \\name, . - \\name\n"
        ".popsection\n"
        ".endm\n"

        "td_c_function td_columns_s1_affine, 1, td_c_affine\n"
        "td_c_function td_columns_s1_exact, 1, td_c_exact\n"
        "td_c_function td_columns_s2_affine, 2, td_c_affine\n"
        "td_c_function td_columns_s2_exact, 2, td_c_exact\n");

#else

static int32_t td_round_exact(int32_t acc, const td_exact *restrict r, int32_t zero_point)
{
    int32_t h = td_mul_add_high(r->bias + 2 * acc, r->m, 0x80000000U, 0);
    h += h >> 31;
    return ((h >> r->shift) + 2 * zero_point + 1) >> 1;
}

TD_INLINE void td_block(const int8_t *const *table, const int8_t *restrict w, int8_t *out, const td_columns *restrict p,
                        const void *restrict requant, int32_t stride, int exact)
{
    const int32_t columns = (p->pixels - 1) * stride + 3;
    for (int32_t c = 0; c < p->channels; c++) {
        int32_t sums[TD_COLUMNS_PIXELS] = {0, 0, 0, 0, 0};
        for (const int8_t *const *group = table; group != p->end; group += columns) {
            for (int32_t i = 0; i < p->pixels; i++) {
                const int8_t *const *column = group + i * stride;
                sums[i] += column[0][c] * w[0] + column[1][c] * w[1] + column[2][c] * w[2];
            }
            w += 3;
        }
        for (int32_t i = 0; i < p->pixels; i++) {
            const int32_t y = exact ? td_round_exact(sums[i], (const td_exact *)requant + c, p->zero_point)
                                    : td_requant_affine(sums[i], (const td_affine *)requant + c, 2);
            out[i * p->channels + c] = (int8_t)td_clamp(y, -128, 127);
        }
    }
}

void td_columns_s1_exact(const int8_t *const *table, const int8_t *restrict weights, int8_t *out,
                         const td_columns *restrict p, const td_exact *restrict requant)
{
    td_block(table, weights, out, p, requant, 1, 1);
}

void td_columns_s2_exact(const int8_t *const *table, const int8_t *restrict weights, int8_t *out,
                         const td_columns *restrict p, const td_exact *restrict requant)
{
    td_block(table, weights, out, p, requant, 2, 1);
}

#if !TD_USE_V6M

void td_columns_s1_affine(const int8_t *const *table, const int8_t *restrict weights, int8_t *out,
                          const td_columns *restrict p, const td_affine *restrict requant)
{
    td_block(table, weights, out, p, requant, 1, 0);
}

void td_columns_s2_affine(const int8_t *const *table, const int8_t *restrict weights, int8_t *out,
                          const td_columns *restrict p, const td_affine *restrict requant)
{
    td_block(table, weights, out, p, requant, 2, 0);
}

#endif

#endif
