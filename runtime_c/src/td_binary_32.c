/* td_binary_32.c - arithmetic of two integers of 32 bits. */
#include "td_binary_int.h"

TD_DEFINE_ALL(32, uint32_t)
