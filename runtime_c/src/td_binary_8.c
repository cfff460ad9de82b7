/* td_binary_8.c - arithmetic of two integers of 8 bits. */
#include "td_binary_int.h"

TD_DEFINE_ALL(8, uint32_t)
