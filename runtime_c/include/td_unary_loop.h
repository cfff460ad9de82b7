/* td_unary_loop.h - the loop of td_unary*_f32.c. */
#ifndef TD_UNARY_LOOP_H
#define TD_UNARY_LOOP_H

#include "td_unary.h"

/* The function td_<name>_f32, whose result is `expression` of the float x and of p->a and p->b. */
#define TD_DEFINE_F32(name, expression)                                                                                \
    TD_UNARY_F32(name)                                                                                                 \
    {                                                                                                                  \
        for (int32_t i = 0; i < p->size; i++) {                                                                        \
            const float x = in[i];                                                                                     \
            out[i] = expression;                                                                                       \
        }                                                                                                              \
    }

#endif
