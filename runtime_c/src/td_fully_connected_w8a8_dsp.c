/* td_fully_connected_w8a8_dsp.c - four outputs at a time: assembly for ARMv7E-M and ARMv8-M DSP, plain C elsewhere. */
#include "td_fully_connected_dsp.h"

#include "td_requant.h"

typedef struct {
    int32_t window_bytes; /* of the widened input: 16 a group of eight, > 0 */
    int32_t outputs;      /* a multiple of four, > 0 */
    int32_t zero_point;   /* exact: of the output */
} td_dense_dsp;

/* Compute `outputs` values; returns the end of the stream read. Widened inputs: taps 0, 2, 1, 3 of every four. */
const uint32_t *td_dense_affine_dsp(const int16_t *x, const uint32_t *restrict stream, int8_t *out,
                                    const td_dense_dsp *restrict p);
const uint32_t *td_dense_exact_dsp(const int16_t *x, const uint32_t *restrict stream, int8_t *out,
                                   const td_dense_dsp *restrict p);

/* Widen `groups` times eight values; returns the end of what was written. */
int16_t *td_widen1_dsp(const int8_t *x, int16_t *to, int32_t groups);

#if TD_USE_DSP

/* r0 x, r1 stream, r2-r5 weights, r6-r9 activations, sums: r10 S_a, r11 T_ab, r12 S_c, lr T_cd (T = S_a + 256 * S_b).
 * Frame: 0 end of x, 4 x, 8 out, 12 end of out, 16 where to enter the chain, 20 zero point. */
__asm__(".syntax unified\n"
        ".thumb\n"
        ".macro td_f_add w, x, t, s\n"
        "smlad \\t, \\w, \\x, \\t\n"
        "sxtb16 \\w, \\w\n"
        "smlad \\s, \\w, \\x, \\s\n"
        ".endm\n"
        ".macro td_f_set w, x, t, s\n"
        "smuad \\t, \\w, \\x\n"
        "sxtb16 \\w, \\w\n"
        "smuad \\s, \\w, \\x\n"
        ".endm\n"
        ".macro td_f_eight first\n"
        "ldmia.w r0!, {r6-r9}\n"
        "ldmia.w r1!, {r2-r5}\n"
        "\\first r2, r6, r11, r10\n"
        "td_f_add r3, r7, r11, r10\n"
        "td_f_add r4, r8, r11, r10\n"
        "td_f_add r5, r9, r11, r10\n"
        "ldmia.w r1!, {r2-r5}\n"
        "\\first r2, r6, lr, r12\n"
        "td_f_add r3, r7, lr, r12\n"
        "td_f_add r4, r8, lr, r12\n"
        "td_f_add r5, r9, lr, r12\n"
        ".endm\n"
        ".macro td_f_function name, stack\n"
        ".pushsection .text.\\name,\"ax\",%progbits\n"
        ".balign 4\n"
        ".global \\name\n"
        ".thumb_func\n"
        ".type \\name, %function\n"
        ".global __td_stack_\\name\n"
        ".set __td_stack_\\name, \\stack\n"
        "\\name:\n"
        ".endm\n"
        ".macro td_f_end name\n"
        ".size \\name, . - \\name\n"
        ".popsection\n"
        ".endm\n"
        /* fills the frame; the chain is entered so that `first` steps of eight fewer than there are remain for it */
        ".macro td_f_open first\n"
        "push {r4-r11, lr}\n"
        "sub sp, #28\n"
        "ldmia.w r3, {r4-r6}\n"
        "adds r7, r0, r4\n"
        "strd r7, r0, [sp]\n"
        "adds r5, r2, r5\n"
        "strd r2, r5, [sp, #8]\n"
        "lsrs r3, r4, #4\n"
        "subs r3, #\\first\n"
        "beq 1f\n"
        "subs r3, #1\n"
        "and r3, r3, #7\n"
        "adds r3, #1\n"
        "1:\n"
        "movs r4, #108\n"
        "mul r3, r3, r4\n"
        "adr.w r4, 9f\n"
        "subs r4, r4, r3\n"
        "orr r4, r4, #1\n"
        "strd r4, r6, [sp, #16]\n"
        ".endm\n"
        ".macro td_f_chain\n"
        "ldr pc, [sp, #16]\n"
        ".balign 4\n"
        "7:\n"
        ".rept 8\n"
        "td_f_eight td_f_add\n"
        ".endr\n"
        "9:\n"
        "ldr r2, [sp]\n"
        "cmp r0, r2\n"
        "bne.w 7b\n"
        "sub.w r11, r11, r10\n"
        "sub.w lr, lr, r12\n"
        ".endm\n"
        ".macro td_f_close\n"
        "bfi r10, r11, #8, #8\n"
        "bfi r10, r12, #16, #8\n"
        "bfi r10, lr, #24, #8\n"
        "ldrd r2, r3, [sp, #8]\n"
        "str r10, [r2], #4\n"
        "str r2, [sp, #8]\n"
        "ldr r0, [sp, #4]\n"
        "cmp r2, r3\n"
        "bne.w 2b\n"
        "mov r0, r1\n"
        "add sp, #28\n"
        "pop {r4-r11, pc}\n"
        ".endm\n"
        ".macro td_f_scale a, b\n"
        "ldmia.w r1!, {r2-r7}\n"
        "smlal r2, r3, \\a, r4\n"
        "smlal r5, r6, \\b, r7\n"
        "ssat \\a, #8, r3\n"
        "ssat \\b, #8, r6, asr #8\n"
        ".endm\n"
        ".macro td_f_round x, m, p\n"
        "smmulr r6, \\x, \\m\n"
        "add r6, r6, \\x, asr #31\n"
        "smmlar \\x, r6, \\p, r7\n"
        "ssat \\x, #8, \\x\n"
        ".endm\n"
        ".macro td_f_exact a, b\n"
        "ldmia.w r1!, {r2-r5}\n"
        "lsl.w \\a, \\a, #1\n"
        "asr.w \\b, \\b, #7\n"
        "td_f_round \\a, r2, r3\n"
        "td_f_round \\b, r4, r5\n"
        ".endm\n"

        "td_f_function td_dense_affine_dsp, 64\n"
        "td_f_open 1\n"
        "2:\n"
        "td_f_eight td_f_set\n"
        "td_f_chain\n"
        "td_f_scale r10, r11\n"
        "td_f_scale r12, lr\n"
        "td_f_close\n"
        "td_f_end td_dense_affine_dsp\n"

        "td_f_function td_dense_exact_dsp, 64\n"
        "td_f_open 0\n"
        "2:\n"
        "ldmia.w r1!, {r10, r11, r12, lr}\n"
        "td_f_chain\n"
        "ldr r7, [sp, #20]\n"
        "td_f_exact r10, r11\n"
        "td_f_exact r12, lr\n"
        "td_f_close\n"
        "td_f_end td_dense_exact_dsp\n"

        "td_f_function td_widen1_dsp, 12\n"
        "push {r4-r6}\n"
        "cbz r2, 2f\n"
        "1:\n"
        "ldr r3, [r0], #4\n"
        "ldr r5, [r0], #4\n"
        "sxtb16 r4, r3, ror #8\n"
        "sxtb16 r3, r3\n"
        "sxtb16 r6, r5, ror #8\n"
        "sxtb16 r5, r5\n"
        "stmia r1!, {r3-r6}\n"
        "subs r2, #1\n"
        "bne 1b\n"
        "2:\n"
        "mov r0, r1\n"
        "pop {r4-r6}\n"
        "bx lr\n"
        "td_f_end td_widen1_dsp\n");

#else

static inline int32_t td_saturate_s8(int32_t y)
{
    return y < -128 ? -128 : y > 127 ? 127 : y;
}

/* Sums of four outputs, of b and d not yet times 256; *stream moves on. */
static void td_dense_sums(const int16_t *x, const uint32_t *restrict *stream, int32_t window_bytes, int32_t sum[4])
{
    const uint32_t *restrict w = *stream;
    for (int32_t i = 0; i < 4; i++) {
        sum[i] = 0;
    }
    for (int32_t k = 0; k < window_bytes / 2; k += 8) {
        for (int32_t i = 0; i < 16; i++) {
            const int32_t half = (int16_t)(w[i / 2] >> (i % 2 * 16));
            const int32_t a = (int8_t)(half & 0xFF);
            sum[i / 8 * 2] += a * x[k + i % 8];
            sum[i / 8 * 2 + 1] += (half - a) / 256 * x[k + i % 8];
        }
        w += 8;
    }
    *stream = w;
}

const uint32_t *td_dense_affine_dsp(const int16_t *x, const uint32_t *restrict stream, int8_t *out,
                                    const td_dense_dsp *restrict p)
{
    for (int32_t o = 0; o < p->outputs; o += 4) {
        int32_t sum[4];
        td_dense_sums(x, &stream, p->window_bytes, sum);
        for (int32_t i = 0; i < 4; i++) {
            const int32_t y =
                td_mul_add_high(sum[i] * (i % 2 ? 256 : 1), (int32_t)stream[2], stream[0], (int32_t)stream[1]);
            out[o + i] = (int8_t)td_saturate_s8(y >> (i % 2 ? 8 : 0));
            stream += 3;
        }
    }
    return stream;
}

const uint32_t *td_dense_exact_dsp(const int16_t *x, const uint32_t *restrict stream, int8_t *out,
                                   const td_dense_dsp *restrict p)
{
    for (int32_t o = 0; o < p->outputs; o += 4) {
        const uint32_t *const bias = stream;
        int32_t sum[4];
        stream += 4;
        td_dense_sums(x, &stream, p->window_bytes, sum);
        for (int32_t i = 0; i < 4; i++) {
            const int32_t acc = sum[i] + (i % 2 ? (int32_t)(bias[i] - bias[i - 1]) / 256 : (int32_t)bias[i]);
            const int32_t high = td_srdhm(acc, (int32_t)stream[0]) - (acc < 0 ? 1 : 0);
            const int64_t rounded = ((int64_t)high * (int32_t)stream[1] + (INT64_C(1) << 31)) >> 32;
            out[o + i] = (int8_t)td_saturate_s8((int32_t)rounded + p->zero_point);
            stream += 2;
        }
    }
    return stream;
}

int16_t *td_widen1_dsp(const int8_t *x, int16_t *to, int32_t groups)
{
    for (int32_t i = 0; i < 2 * groups; i++) {
        to[0] = x[0];
        to[1] = x[2];
        to[2] = x[1];
        to[3] = x[3];
        x += 4;
        to += 4;
    }
    return to;
}

#endif

TD_INLINE void td_dense(const td_fully_connected_dsp_params *restrict p, const int8_t *in,
                        const uint32_t *restrict stream, int8_t *out, int16_t *scratch, int exact)
{
    static const int8_t place[8] = {0, 2, 1, 3, 4, 6, 5, 7};
    const int32_t rest = p->inputs % 8;
    int16_t *end = td_widen1_dsp(in, scratch, p->inputs / 8);
    if (rest != 0) {
        for (int32_t i = 0; i < 8; i++) {
            end[place[i]] = i < rest ? in[p->inputs - rest + i] : 0;
        }
        end += 8;
    }
    td_dense_dsp block = {(int32_t)(end - scratch) * 2, p->outputs & ~3, p->zero_point};
    if (block.outputs > 0) {
        stream = exact ? td_dense_exact_dsp(scratch, stream, out, &block)
                       : td_dense_affine_dsp(scratch, stream, out, &block);
    }
    if (block.outputs != p->outputs) {
        int8_t last[4];
        int8_t *const to = out + block.outputs;
        block.outputs = 4;
        if (exact) {
            td_dense_exact_dsp(scratch, stream, last, &block);
        } else {
            td_dense_affine_dsp(scratch, stream, last, &block);
        }
        for (int32_t i = 0; i < p->outputs % 4; i++) {
            to[i] = last[i];
        }
    }
    if (p->act_min > -128 || p->act_max < 127) {
        for (int32_t o = 0; o < p->outputs; o++) {
            out[o] = (int8_t)td_clamp(out[o], p->act_min, p->act_max);
        }
    }
}

void td_fully_connected_w8a8_dsp(const td_fully_connected_dsp_params *restrict p, const int8_t *in,
                                 const uint32_t *restrict stream, int8_t *out, int16_t *scratch)
{
    td_dense(p, in, stream, out, scratch, 0);
}

void td_fully_connected_w8a8_dsp_exact(const td_fully_connected_dsp_params *restrict p, const int8_t *in,
                                       const uint32_t *restrict stream, int8_t *out, int16_t *scratch)
{
    td_dense(p, in, stream, out, scratch, 1);
}
