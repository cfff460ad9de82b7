/* The port over semihosting: streams are files in the directory QEMU was started in. */
#include "semihosting.h"
#include "td_port.h"

enum { ADP_STOPPED_APPLICATION_EXIT = 0x20026 };

static int32_t input_file;
static int32_t output_file;

static int32_t open_file(const char *name, uint32_t length, uint32_t mode)
{
    const uint32_t block[3] = {(uint32_t)(uintptr_t)name, mode, length};
    return td_semihost(TD_SYS_OPEN, block);
}

int td_port_open(void)
{
    input_file = open_file("td_in.bin", 9, TD_OPEN_READ_BINARY);
    output_file = open_file("td_out.bin", 10, TD_OPEN_WRITE_BINARY);
    return input_file < 0 || output_file < 0;
}

/* Both calls answer with the number of bytes that were not moved. */
static int move(int32_t operation, int32_t file, const void *data, size_t bytes)
{
    const uint32_t block[3] = {(uint32_t)file, (uint32_t)(uintptr_t)data, (uint32_t)bytes};
    return bytes != 0 && td_semihost(operation, block) != 0;
}

int td_port_read(void *data, size_t bytes)
{
    return move(TD_SYS_READ, input_file, data, bytes);
}

int td_port_write(const void *data, size_t bytes)
{
    return move(TD_SYS_WRITE, output_file, data, bytes);
}

void td_port_puts(const char *text)
{
    (void)td_semihost(TD_SYS_WRITE0, text);
}

void td_port_exit(int status)
{
    const uint32_t block[2] = {ADP_STOPPED_APPLICATION_EXIT, (uint32_t)status};
    for (;;) {
        (void)td_semihost(TD_SYS_EXIT_EXTENDED, block);
    }
}
