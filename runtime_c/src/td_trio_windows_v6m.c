/* td_trio_windows_v6m.c - blocks of several windows of td_trio.h in assembly for ARMv6-M and ARMv8-M baseline. */
#include "td_trio.h"

#if TD_USE_V6M

#include "td_trio_v6m.h"

/* Sums are larger than in one window: the multiplier is in four parts of 8 bits, r4-r7; affine: c in parts r8-r10 and
 * r12, lr 8 + shift; exact: r8 bias, r10 2 * zero point + 1, lr -1 - shift. */
__asm__(
    /* r1 = floor of r0 * m less its last part, r2 lost */
    ".macro td_t_part m\n"
    "mov r2, r0\n"
    "muls r2, \\m, r2\n"
    "adds r1, r1, r2\n"
    ".endm\n"
    /* 56 bytes a pixel */
    ".macro td_t_affine_w_pixel i\n"
    "ldr r0, [sp, #4 * \\i]\n"
    "mov r1, r0\n"
    "muls r1, r4, r1\n"
    "add r1, r8\n"
    "asrs r1, r1, #8\n"
    "td_t_part r5\n"
    "add r1, r9\n"
    "asrs r1, r1, #8\n"
    "td_t_part r6\n"
    "add r1, r10\n"
    "asrs r1, r1, #8\n"
    "muls r0, r7, r0\n"
    "adds r0, r0, r1\n"
    "add r0, r12\n"
    "mov r2, lr\n"
    "asrs r0, r2\n"
    "td_t_store\n"
    ".endm\n"
    /* 62 bytes a pixel */
    ".macro td_t_exact_w_pixel i\n"
    "ldr r0, [sp, #4 * \\i]\n"
    "add r0, r8\n"
    "mov r1, r0\n"
    "muls r1, r4, r1\n"
    "asrs r1, r1, #8\n"
    "td_t_part r5\n"
    "asrs r1, r1, #8\n"
    "td_t_part r6\n"
    "asrs r1, r1, #8\n"
    "muls r0, r7, r0\n"
    "adds r0, r0, r1\n"
    "adds r0, #64\n"
    "asrs r0, r0, #7\n"
    "asrs r1, r0, #31\n"
    "adds r0, r0, r1\n"
    "mov r2, lr\n"
    "asrs r0, r2\n"
    "add r0, r10\n"
    "asrs r0, r0, #1\n"
    "td_t_store\n"
    ".endm\n"
    /* \m in four parts */
    ".macro td_t_cut4 m\n"
    "uxtb r4, \\m\nlsrs r5, \\m, #8\nuxtb r5, r5\nlsrs r6, \\m, #16\nuxtb r6, r6\nlsrs r7, \\m, #24\n"
    ".endm\n"
    /* the record in r1-r3, the layer's constant in r7 */
    ".macro td_t_affine_w_open\n"
    "subs r7, #2\nmov lr, r7\n"
    "td_t_cut4 r3\n"
    "uxtb r3, r1\nmov r8, r3\n"
    "lsrs r3, r1, #8\nuxtb r3, r3\nmov r9, r3\n"
    "lsrs r3, r1, #16\nuxtb r3, r3\nmov r10, r3\n"
    "lsrs r1, r1, #24\nlsls r2, r2, #8\nadds r1, r1, r2\nmov r12, r1\n"
    ".endm\n"
    ".macro td_t_exact_w_open\n"
    "mov r10, r7\n"
    "mvns r3, r3\nmov lr, r3\n"
    "td_t_cut4 r2\n"
    "mov r8, r1\n"
    ".endm\n"
    "td_t_block 6, affine_w, td_trio_affine6_windows, 20, 4, 16, 56, 72\n"
    "td_t_block 3, affine_w, td_trio_affine3_windows, 12, 3, 8, 56, 72\n"
    "td_t_block 6, exact_w, td_trio_exact6_windows, 20, 4, 16, 62, 72\n"
    "td_t_block 3, exact_w, td_trio_exact3_windows, 12, 3, 8, 62, 72\n");

#endif
