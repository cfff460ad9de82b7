/* The one instruction through which an M-profile core calls its debugger: BKPT 0xAB, operation in r0, argument in r1.
 */
#include "semihosting.h"

__asm__(".syntax unified\n"
        ".section .text.td_semihost, \"ax\", %progbits\n"
        ".global td_semihost\n"
        ".type td_semihost, %function\n"
        ".thumb_func\n"
        "td_semihost:\n"
        "    bkpt 0xab\n"
        "    bx lr\n"
        ".size td_semihost, . - td_semihost\n"
        ".global __td_stack_td_semihost\n"
        ".set __td_stack_td_semihost, 0\n"
        ".text\n");
