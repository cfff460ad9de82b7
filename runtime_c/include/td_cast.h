/* td_cast.h - the same numbers in another element type.
 *
 * td_cast_int      integers to integers modulo 2^bits, or to x != 0
 * td_cast_int_f32  integers to float32, rounded to nearest, halves to even
 * td_cast_f32_int  float32 to integers: without the fraction, saturated, NaN gives 0; or to x != 0
 *
 * One element after the other in rising order; out may lie over in as far as the converter's access plan says.
 * A kind is an element's bytes (1, 2, 4, 8), negative if it is signed; as a result TD_BOOL stands for x != 0.
 * Source: TFLite CAST; ONNX Cast.
 */
#ifndef TD_CAST_H
#define TD_CAST_H

#include "td_arch.h"

#define TD_BOOL 0

typedef struct {
    int32_t size; /* elements */
    int32_t from;
    int32_t to;
} td_cast_params;

typedef struct {
    int32_t size;
    int32_t to;
    float below; /* `lowest` if x <= below, `highest` if x >= above */
    float above;
    int64_t lowest;
    int64_t highest; /* modulo 2^64 */
} td_cast_f32_params;

void td_cast_int(const td_cast_params *restrict p, const void *in, void *out);

void td_cast_int_f32(const td_cast_params *restrict p, const void *in, float *out);

void td_cast_f32_int(const td_cast_f32_params *restrict p, const float *in, void *out);

#endif
