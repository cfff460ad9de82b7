/* What the firmware's main needs from the machine below it: a byte stream in, one out, an end, a stack gauge and a
 * clock. port_semihosting.c serves QEMU and debug probes, port_files.c the host; a board with a UART brings its own. */
#ifndef TD_PORT_H
#define TD_PORT_H
#include <stddef.h>
#include <stdint.h>

/* Opens both streams. Returns 0, or a status that main hands to td_port_exit. */
int td_port_open(void);

/* Reads exactly `bytes` bytes. Returns 0, or non-zero when the stream ended early. */
int td_port_read(void *data, size_t bytes);

/* Writes exactly `bytes` bytes. Returns 0, or non-zero when the far end takes no more. */
int td_port_write(const void *data, size_t bytes);

/* Prints a zero-terminated text where a person sees it. */
void td_port_puts(const char *text);

/* Ends the program with a status; 0 means all went well. */
void td_port_exit(int status);

/* Fills the free stack below the caller's stack pointer with a pattern, at most 1 MB of it. */
void td_stack_paint(void);

/* Bytes below the caller's stack pointer that were written since td_stack_paint; both calls come from one function.
 * 0xffffffff: the whole painted area was written, so the true use may be larger. 0 on machines without a gauge. */
uint32_t td_stack_used(void);

/* Starts the clock, and returns the ticks since then (one tick a processor clock, at most 2^25; 0 without a clock). */
void td_ticks_start(void);
uint32_t td_ticks_read(void);

#endif
