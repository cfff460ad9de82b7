/* td_trio_blocks_v6m.c - blocks of one window of td_trio.h in assembly for ARMv6-M and ARMv8-M baseline. */
#include "td_trio.h"

#if TD_USE_V6M

#include "td_trio_v6m.h"

/* The multiplier in three parts of 11 bits in r4-r6; affine: c in parts r8-r10, r7 10 + shift; exact: r8 bias, r9 256,
 * r10 2 * zero point + 1, r7 -1 - shift. */
__asm__(
    /* 44 bytes a pixel */
    ".macro td_t_affine_pixel i\n"
    "ldr r0, [sp, #4 * \\i]\n"
    "mov r1, r0\n"
    "muls r1, r4, r1\n"
    "add r1, r8\n"
    "asrs r1, r1, #11\n"
    "mov r2, r0\n"
    "muls r2, r5, r2\n"
    "adds r1, r1, r2\n"
    "add r1, r9\n"
    "asrs r1, r1, #11\n"
    "muls r0, r6, r0\n"
    "adds r0, r0, r1\n"
    "add r0, r10\n"
    "asrs r0, r7\n"
    "td_t_store\n"
    ".endm\n"
    /* 52 bytes a pixel: h = SRDHM(acc + bias, m), less 1 where negative; y = (h >> (e - 1)) + 2 * zero point + 1 >> 1
     */
    ".macro td_t_exact_pixel i\n"
    "ldr r0, [sp, #4 * \\i]\n"
    "add r0, r8\n"
    "mov r1, r0\n"
    "muls r1, r4, r1\n"
    "asrs r1, r1, #11\n"
    "mov r2, r0\n"
    "muls r2, r5, r2\n"
    "adds r1, r1, r2\n"
    "asrs r1, r1, #11\n"
    "muls r0, r6, r0\n"
    "adds r0, r0, r1\n"
    "add r0, r9\n"
    "asrs r0, r0, #9\n"
    "asrs r1, r0, #31\n"
    "adds r0, r0, r1\n"
    "asrs r0, r7\n"
    "add r0, r10\n"
    "asrs r0, r0, #1\n"
    "td_t_store\n"
    ".endm\n"
    /* \m in three parts */
    ".macro td_t_cut m\n"
    "lsls r4, \\m, #21\nlsrs r4, r4, #21\n"
    "lsls r5, \\m, #10\nlsrs r5, r5, #21\n"
    "lsrs r6, \\m, #22\n"
    ".endm\n"
    /* the record in r1-r3, the layer's constant in r7 */
    ".macro td_t_affine_open\n"
    "td_t_cut r3\n"
    "lsls r3, r1, #21\nlsrs r3, r3, #21\nmov r8, r3\n"
    "lsls r3, r1, #10\nlsrs r3, r3, #21\nmov r9, r3\n"
    "lsrs r1, r1, #22\nlsls r2, r2, #10\nadds r1, r1, r2\nmov r10, r1\n"
    ".endm\n"
    ".macro td_t_exact_open\n"
    "mov r10, r7\n"
    "mvns r7, r3\n"
    "td_t_cut r2\n"
    "mov r8, r1\n"
    "movs r1, #1\nlsls r1, r1, #8\nmov r9, r1\n"
    ".endm\n"
    "td_t_block 6, affine, td_trio_affine6, 20, 4, 16, 44, 0\n"
    "td_t_block 3, affine, td_trio_affine3, 12, 3, 8, 44, 0\n"
    "td_t_block 6, exact, td_trio_exact6, 20, 4, 16, 52, 0\n"
    "td_t_block 3, exact, td_trio_exact3, 12, 3, 8, 52, 0\n");

#endif
