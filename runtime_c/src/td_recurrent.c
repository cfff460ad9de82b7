/* td_recurrent.c - plain C. */
#include "td_recurrent.h"

void td_state_begin(const float *initial, int32_t size, float *state)
{
    for (int32_t i = 0; i < size; i++) {
        state[i] = initial != NULL ? initial[i] : 0.0F;
    }
}
