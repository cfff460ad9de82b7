/* Stack gauge and clock of every Cortex-M: a painted stack, and SysTick counting processor clocks. */
#include "td_port.h"

enum { SYSTICK_ENABLE_CORE_CLOCK = 5, SYSTICK_WRAPPED = 1 << 16, SYSTICK_TOP = 0xffffff };

typedef struct {
    volatile uint32_t control;
    volatile uint32_t reload;
    volatile uint32_t value;
} systick_registers;

#define SYSTICK ((systick_registers *)0xe000e010u)

/* Assembly, because the painter must not have a frame in what it paints. r0: lowest painted address, r1: moving
 * pointer. The two functions agree on the area by working it out from the same stack pointer. */
__asm__(".syntax unified\n"
        ".section .text.td_stack_paint, \"ax\", %progbits\n"
        ".align 2\n"
        ".global td_stack_paint\n"
        ".type td_stack_paint, %function\n"
        ".thumb_func\n"
        "td_stack_paint:\n"
        "    ldr r0, 5f\n"
        "    mov r1, sp\n"
        "    movs r2, #1\n"
        "    lsls r2, r2, #20\n"
        "    subs r2, r1, r2\n"
        "    cmp r2, r0\n"
        "    bls 1f\n"
        "    mov r0, r2\n"
        "1:  ldr r2, 6f\n"
        "2:  cmp r1, r0\n"
        "    bls 3f\n"
        "    subs r1, r1, #4\n"
        "    str r2, [r1]\n"
        "    b 2b\n"
        "3:  bx lr\n"
        ".align 2\n"
        "5:  .word td_stack_limit\n"
        "6:  .word 0x5ac3a53c\n"
        ".size td_stack_paint, . - td_stack_paint\n"
        ".global __td_stack_td_stack_paint\n"
        ".set __td_stack_td_stack_paint, 0\n"
        ".section .text.td_stack_used, \"ax\", %progbits\n"
        ".align 2\n"
        ".global td_stack_used\n"
        ".type td_stack_used, %function\n"
        ".thumb_func\n"
        "td_stack_used:\n"
        "    ldr r0, 5f\n"
        "    mov r1, sp\n"
        "    movs r2, #1\n"
        "    lsls r2, r2, #20\n"
        "    subs r2, r1, r2\n"
        "    cmp r2, r0\n"
        "    bls 1f\n"
        "    mov r0, r2\n"
        "1:  ldr r2, 6f\n"
        "    ldr r3, [r0]\n"
        "    cmp r3, r2\n"
        "    bne 4f\n"
        "2:  cmp r0, r1\n"
        "    bhs 3f\n"
        "    ldr r3, [r0]\n"
        "    cmp r3, r2\n"
        "    bne 3f\n"
        "    adds r0, r0, #4\n"
        "    b 2b\n"
        "3:  subs r0, r1, r0\n"
        "    bx lr\n"
        "4:  movs r0, #0\n"
        "    mvns r0, r0\n"
        "    bx lr\n"
        ".align 2\n"
        "5:  .word td_stack_limit\n"
        "6:  .word 0x5ac3a53c\n"
        ".size td_stack_used, . - td_stack_used\n"
        ".global __td_stack_td_stack_used\n"
        ".set __td_stack_td_stack_used, 0\n"
        ".text\n");

void td_ticks_start(void)
{
    SYSTICK->control = 0;
    SYSTICK->reload = SYSTICK_TOP;
    SYSTICK->value = 0;
    SYSTICK->control = SYSTICK_ENABLE_CORE_CLOCK;
}

uint32_t td_ticks_read(void)
{
    const uint32_t value = SYSTICK->value;
    const uint32_t wrapped = SYSTICK->control & SYSTICK_WRAPPED;
    return (wrapped != 0 ? 2u * SYSTICK_TOP + 1u : SYSTICK_TOP) - value;
}
