/* td_binary_math_f32.c - powers and angles of two float32. */
#include "td_binary.h"
#include "td_math.h"

TD_DEFINE_BINARY(pow_f32, float, float, td_powf(x, y))
TD_DEFINE_BINARY(atan2_f32, float, float, td_atan2f(x, y))
