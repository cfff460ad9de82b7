/* Arm semihosting: the guest asks the debugger (or QEMU) for files, text and an end. Source: Arm IHI 0100. */
#ifndef TD_SEMIHOSTING_H
#define TD_SEMIHOSTING_H
#include <stdint.h>

enum { TD_SYS_OPEN = 0x01, TD_SYS_WRITE0 = 0x04, TD_SYS_WRITE = 0x05, TD_SYS_READ = 0x06, TD_SYS_EXIT_EXTENDED = 0x20 };

enum { TD_OPEN_READ_BINARY = 1, TD_OPEN_WRITE_BINARY = 5 };

/* Performs `operation` on the block (or text) at `argument`; returns the host's answer. */
int32_t td_semihost(int32_t operation, const void *argument);

#endif
