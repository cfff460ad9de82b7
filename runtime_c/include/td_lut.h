/* td_lut.h - any function of one 8-bit element, from a table of 256 results.
 *
 * y[i] = table[x[i]], both as bytes: a signed input -1 is index 255.
 *
 * `_blocks` does it for `count` runs of `size` elements that lie `in_step` and `out_step` bytes apart (concatenation of
 * tensors with scales of their own). out may lie exactly over in, or below it.
 */
#ifndef TD_LUT_H
#define TD_LUT_H

#include "td_copy.h"

void td_lut_8(const uint8_t *restrict table, const void *in, int32_t size, void *out);

void td_lut_8_blocks(const td_blocks *restrict p, const uint8_t *restrict table, const void *in, void *out);

#endif
