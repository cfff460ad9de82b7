/* td_binary_64.c - arithmetic of two integers of 64 bits. */
#include "td_binary_int.h"

TD_DEFINE_ALL(64, uint64_t)
