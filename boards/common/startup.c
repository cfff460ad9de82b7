/* From reset to main, and from a fault to a readable end, on every Cortex-M. */
#include <stdint.h>

#include "td_port.h"

/* From the linker script. */
extern uint32_t td_stack_limit[];
extern uint32_t td_stack_top[];
extern const uint32_t td_data_load[];
extern uint32_t td_data_start[];
extern uint32_t td_data_end[];
extern uint32_t td_bss_start[];
extern uint32_t td_bss_end[];

int main(void);
void td_reset(void);
void td_fault(void);
void td_fault_report(const uint32_t *frame, uint32_t exc_return);

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define SCB_CCR           REGISTER(0xe000ed14u)
#define SCB_CFSR          REGISTER(0xe000ed28u)
#define SCB_HFSR          REGISTER(0xe000ed2cu)
#define SCB_MMFAR         REGISTER(0xe000ed34u)
#define SCB_BFAR          REGISTER(0xe000ed38u)
#define SCB_CPACR         REGISTER(0xe000ed88u)

#if defined(__ARM_FP) || (defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1))
/* Full access to coprocessors 10 and 11: the FPU, and MVE with it. */
static void enable_vector_unit(void)
{
    SCB_CPACR |= 0xfu << 20;
    __asm__ volatile("dsb\n isb" ::: "memory");
}
#else
static void enable_vector_unit(void)
{
}
#endif

#if defined(__ARM_FEATURE_MVE) && (__ARM_FEATURE_MVE & 1)
/* Low-overhead loops run from the branch cache only when CCR.LOB is set. */
static void enable_loop_cache(void)
{
    SCB_CCR |= 1u << 19;
    __asm__ volatile("dsb\n isb" ::: "memory");
}
#else
static void enable_loop_cache(void)
{
}
#endif

void td_reset(void)
{
    const uint32_t *load = td_data_load;
    enable_vector_unit();
    enable_loop_cache();
    for (uint32_t *word = td_data_start; word < td_data_end; ++word) {
        *word = *load++;
    }
    for (uint32_t *word = td_bss_start; word < td_bss_end; ++word) {
        *word = 0;
    }
    td_port_exit(main());
}

/* The frame's address and EXC_RETURN are kept, then the stack starts afresh: after an overflow the old one is unusable.
 */
__asm__(".syntax unified\n"
        ".section .text.td_fault, \"ax\", %progbits\n"
        ".align 2\n"
        ".global td_fault\n"
        ".type td_fault, %function\n"
        ".thumb_func\n"
        "td_fault:\n"
        "    mov r0, sp\n"
        "    mov r1, lr\n"
        "    ldr r2, 1f\n"
        "    mov sp, r2\n"
        "    bl td_fault_report\n"
        ".align 2\n"
        "1:  .word td_stack_top\n"
        ".size td_fault, . - td_fault\n"
        ".text\n");

static void put_hex(const char *label, uint32_t value)
{
    char text[10];
    for (uint32_t i = 0; i < 8; ++i) {
        const uint32_t digit = (value >> (28 - 4 * i)) & 15u;
        text[i] = (char)(digit < 10 ? '0' + digit : 'a' + digit - 10);
    }
    text[8] = ' ';
    text[9] = '\0';
    td_port_puts(label);
    td_port_puts("=0x");
    td_port_puts(text);
}

#if defined(__ARM_ARCH_6M__)
/* ARMv6-M has no fault status registers. */
static void put_fault_status(void)
{
}
#else
static void put_fault_status(void)
{
    put_hex("CFSR", SCB_CFSR);
    put_hex("HFSR", SCB_HFSR);
    put_hex("MMFAR", SCB_MMFAR);
    put_hex("BFAR", SCB_BFAR);
}
#endif

void td_fault_report(const uint32_t *frame, uint32_t exc_return)
{
    uint32_t exception;
    __asm__ volatile("mrs %0, ipsr" : "=r"(exception));
    td_port_puts("td-fault: ");
    put_hex("EXCEPTION", exception);
    put_fault_status();
    put_hex("SP", (uint32_t)(uintptr_t)frame);
    put_hex("EXC_RETURN", exc_return);
    if (frame >= td_stack_limit && frame + 8 <= td_stack_top) {
        put_hex("PC", frame[6]);
        put_hex("LR", frame[5]);
        put_hex("XPSR", frame[7]);
        put_hex("R0", frame[0]);
        put_hex("R1", frame[1]);
        put_hex("R2", frame[2]);
        put_hex("R3", frame[3]);
        put_hex("R12", frame[4]);
    } else {
        td_port_puts("stack-overflow ");
    }
    td_port_puts("\n");
    td_port_exit(101);
}

/* The initial stack pointer, then fifteen system entries; no interrupt is ever enabled, so there are no more. */
typedef struct {
    const uint32_t *stack_top;
    void (*handlers[15])(void);
} vector_table;

__attribute__((section(".vectors"), used)) static const vector_table vectors = {
    td_stack_top,
    {
        td_reset, td_fault, td_fault, /* reset, NMI, HardFault */
        td_fault, td_fault, td_fault, /* MemManage, BusFault, UsageFault */
        td_fault, td_fault, td_fault, /* SecureFault, two reserved */
        td_fault, td_fault, td_fault, /* reserved, SVCall, DebugMonitor */
        td_fault, td_fault, td_fault, /* reserved, PendSV, SysTick */
    },
};
