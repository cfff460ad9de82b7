/* td_slide_dsp.c - sliding depthwise windows: assembly for ARMv7E-M and ARMv8-M DSP, plain C elsewhere. */
#include "td_slide_dsp.h"

#if TD_USE_DSP

/* r0 middle column, r1 stream, r2 channel, r3 left column, r4-r7 r12 lr activations and weights, r8-r11 sums of four
 * channels. Frame: 0 4 8 pixels of the right column, 12 out, 16 channels. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_s_function name, stack\n"
        ".pushsection .text.\\name,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global \\name\n"
        ".thumb_func\n"
        ".type \\name, %function\n"
        ".global __td_stack_\\name\n"
        ".set __td_stack_\\name, \\stack\n"
        "\\name:\n"
        ".endm\n"
        ".macro td_s_end name\n"
        ".size \\name, . - \\name\n"
        ".popsection\n"
        ".endm\n"
        /* r4 r5 r6: pixels of a column; words {upper, middle} of four channels to r4-r7, lower taps to r12 lr */
        ".macro td_s_unpack\n"
        "pkhbt lr, r4, r5, lsl #16\n"
        "pkhtb r7, r5, r4, asr #16\n"
        "sxtb16 r4, lr\n"
        "sxtb16 r5, lr, ror #8\n"
        "sxtb16 r12, r6\n"
        "sxtb16 lr, r6, ror #8\n"
        "sxtb16 r6, r7\n"
        "sxtb16 r7, r7, ror #8\n"
        ".endm\n"
        ".macro td_s_upper\n"
        "ldrd r12, lr, [r1], #8\n"
        "smlad r8, r4, r12, r8\n"
        "smlad r9, r5, lr, r9\n"
        "ldrd r12, lr, [r1], #8\n"
        "smlad r10, r6, r12, r10\n"
        "smlad r11, r7, lr, r11\n"
        ".endm\n"
        ".macro td_s_lower\n"
        "ldrd r12, lr, [r1], #8\n"
        "smlabb r8, r4, r12, r8\n"
        "smlabb r9, r5, lr, r9\n"
        "smlatt r10, r4, r12, r10\n"
        "smlatt r11, r5, lr, r11\n"
        ".endm\n"
        ".macro td_s_scale a, b\n"
        "ldmia.w r1!, {r4-r7, r12, lr}\n"
        "smlal r4, r5, \\a, r6\n"
        "smlal r7, r12, \\b, lr\n"
        "ssat \\a, #8, r5, asr #2\n"
        "ssat \\b, #8, r12, asr #2\n"
        ".endm\n"

        "td_s_function td_slide_column_dsp, 28\n"
        "push {r4-r9, lr}\n"
        "ldmia.w r0, {r3, r8, r9}\n"
        "1:\n"
        "ldr r4, [r3], #4\n"
        "ldr r5, [r8], #4\n"
        "ldr r6, [r9], #4\n"
        "td_s_unpack\n"
        "stmia.w r1!, {r4-r7, r12, lr}\n"
        "subs r2, #4\n"
        "bne 1b\n"
        "pop {r4-r9, pc}\n"
        "td_s_end td_slide_column_dsp\n"

        "td_s_function td_slide_pixel_dsp, 56\n"
        "push {r4-r11, lr}\n"
        "sub sp, #20\n"
        "ldmia.w r0, {r4-r6}\n"
        "strd r4, r5, [sp]\n"
        "strd r6, r2, [sp, #8]\n"
        "ldmia.w r3, {r4-r6}\n"
        "str r4, [sp, #16]\n"
        "mov r3, r5\n"
        "mov r0, r6\n"
        "movs r2, #0\n"
        "1:\n"
        "ldmia.w r3!, {r4-r7}\n"
        "ldrd r12, lr, [r1], #8\n"
        "smuad r8, r4, r12\n"
        "smuad r9, r5, lr\n"
        "ldrd r12, lr, [r1], #8\n"
        "smuad r10, r6, r12\n"
        "smuad r11, r7, lr\n"
        "ldrd r4, r5, [r3], #8\n"
        "td_s_lower\n"
        "ldmia.w r0!, {r4-r7}\n"
        "td_s_upper\n"
        "ldrd r4, r5, [r0], #8\n"
        "td_s_lower\n"
        "ldrd r4, r5, [sp]\n"
        "ldr r6, [sp, #8]\n"
        "ldr r4, [r4, r2]\n"
        "ldr r5, [r5, r2]\n"
        "ldr r6, [r6, r2]\n"
        "td_s_unpack\n"
        "stmdb r3, {r4-r7, r12, lr}\n"
        "td_s_upper\n"
        "ldrd r4, r5, [r3, #-8]\n"
        "td_s_lower\n"
        "td_s_scale r8, r9\n"
        "td_s_scale r10, r11\n"
        "bfi r8, r9, #8, #8\n"
        "bfi r8, r10, #16, #8\n"
        "bfi r8, r11, #24, #8\n"
        "ldrd r4, r5, [sp, #12]\n"
        "str r8, [r4, r2]\n"
        "adds r2, #4\n"
        "cmp r2, r5\n"
        "bne.w 1b\n"
        "add sp, #20\n"
        "pop {r4-r11, pc}\n"
        "td_s_end td_slide_pixel_dsp\n");

#else

/* A column is kept as its bytes: [3 pixels][channels]. */
void td_slide_column_dsp(const int8_t *const *column, int16_t *to, int32_t channels)
{
    int8_t *kept = (int8_t *)to;
    for (int32_t ky = 0; ky < 3; ky++) {
        for (int32_t c = 0; c < channels; c++) {
            *kept++ = column[ky][c];
        }
    }
}

/* The sum of channel c: `taps` are [3 columns][3 pixels], `w` the weights of its four channels. */
static int32_t td_slide_sum(const int8_t *const taps[9], const uint32_t *restrict w, int32_t c)
{
    const int32_t j = c % 4;
    int32_t sum = 0;
    for (int32_t kx = 0; kx < 3; kx++) {
        sum += taps[3 * kx][c] * (int16_t)(w[j] & 0xFFFF) + taps[3 * kx + 1][c] * (int16_t)(w[j] >> 16);
        sum += taps[3 * kx + 2][c] * (int16_t)(w[4 + j % 2] >> (j / 2 * 16));
        w += 6;
    }
    return sum;
}

void td_slide_pixel_dsp(const int8_t *const *column, const uint32_t *restrict stream, int8_t *out,
                        const td_slide_dsp *restrict p)
{
    const int8_t *taps[9];
    for (int32_t ky = 0; ky < 3; ky++) {
        taps[ky] = (const int8_t *)p->old + ky * p->channels;
        taps[3 + ky] = (const int8_t *)p->middle + ky * p->channels;
        taps[6 + ky] = column[ky];
    }
    for (int32_t c = 0; c < p->channels; c += 4) {
        int8_t result[4];
        for (int32_t j = 0; j < 4; j++) {
            const uint32_t *const r = stream + 18 + 3 * j;
            const int32_t sum = td_slide_sum(taps, stream, c + j);
            const int32_t y = td_mul_add_high(sum, (int32_t)r[2], r[0], (int32_t)r[1]);
            result[j] = (int8_t)td_clamp(y >> 2, -128, 127);
        }
        for (int32_t j = 0; j < 4; j++) {
            for (int32_t ky = 0; ky < 3; ky++) {
                ((int8_t *)p->old)[ky * p->channels + c + j] = column[ky][c + j];
            }
        }
        for (int32_t j = 0; j < 4; j++) {
            out[c + j] = result[j];
        }
        stream += 30;
    }
}

#endif
