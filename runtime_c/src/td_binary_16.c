/* td_binary_16.c - arithmetic of two integers of 16 bits. */
#include "td_binary_int.h"

TD_DEFINE_ALL(16, uint32_t)
