/* The port on a desktop: streams are files in the current directory; there is no stack gauge and no clock. */
#include "td_port.h"

#include <stdio.h>
#include <stdlib.h>

static FILE *input_file;
static FILE *output_file;

int td_port_open(void)
{
    input_file = fopen("td_in.bin", "rb");
    output_file = fopen("td_out.bin", "wb");
    return input_file == NULL || output_file == NULL;
}

int td_port_read(void *data, size_t bytes)
{
    return fread(data, 1, bytes, input_file) != bytes;
}

int td_port_write(const void *data, size_t bytes)
{
    return fwrite(data, 1, bytes, output_file) != bytes;
}

void td_port_puts(const char *text)
{
    (void)fputs(text, stderr);
}

void td_port_exit(int status)
{
    if (output_file != NULL && fclose(output_file) != 0 && status == 0) {
        status = 1;
    }
    exit(status);
}

void td_stack_paint(void)
{
}

uint32_t td_stack_used(void)
{
    return 0;
}

void td_ticks_start(void)
{
}

uint32_t td_ticks_read(void)
{
    return 0;
}
