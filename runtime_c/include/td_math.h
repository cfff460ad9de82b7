/* td_math.h - mathematical functions in float32.
 *
 * Each is equal in every bit to the function without td_ and f of tinydeploy/numerics/float32.py: float32 and integers
 * only, a fixed order of operations, no mathematical library. Compile with -ffp-contract=off. Errors stay below 3 units
 * in the last place (tangent: 4), mostly below 1; td_sqrtf and the roundings are exact. NaN in, NaN out; zeros,
 * infinities and signs as in C99. Beyond their domains the functions give NaN.
 *
 * td_math.c: td_expf ... td_rintf. td_math_trig.c and td_math_pow.c need td_math.c.
 */
#ifndef TD_MATH_H
#define TD_MATH_H

#include "td_arch.h"

float td_expf(float x);
float td_expm1f(float x);
float td_logf(float x);
float td_log1pf(float x);
float td_tanhf(float x);
float td_sigmoidf(float x);
float td_erff(float x);
float td_sinhf(float x);
float td_coshf(float x);
float td_asinhf(float x);
float td_acoshf(float x);
float td_atanhf(float x);
float td_sqrtf(float x);
float td_floorf(float x);
float td_ceilf(float x);
float td_rintf(float x); /* halves to even */

/* td_math_trig.c */
float td_sinf(float x);
float td_cosf(float x);
float td_tanf(float x);
float td_asinf(float x);
float td_acosf(float x);
float td_atanf(float x);
float td_atan2f(float y, float x);

/* td_math_pow.c */
float td_powf(float x, float y);

#endif
