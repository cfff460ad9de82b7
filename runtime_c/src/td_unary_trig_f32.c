/* td_unary_trig_f32.c - trigonometric functions of one float32. */
#include "td_math.h"
#include "td_unary_loop.h"

TD_DEFINE_F32(sin, td_sinf(x))
TD_DEFINE_F32(cos, td_cosf(x))
TD_DEFINE_F32(tan, td_tanf(x))
TD_DEFINE_F32(asin, td_asinf(x))
TD_DEFINE_F32(acos, td_acosf(x))
TD_DEFINE_F32(atan, td_atanf(x))
