/* td_lines.h - a tensor as lines along some of its axes, for operators that sum over them.
 *
 * kept      sizes of the axes that stay, slowest first; 1 where there are fewer than three
 * reduced   sizes of the axes along which a line runs, slowest first
 * steps     distance of neighbours along an axis, in elements
 */
#ifndef TD_LINES_H
#define TD_LINES_H

#include "td_arch.h"

#define TD_LINES_AXES 3

typedef struct {
    int32_t kept[TD_LINES_AXES];
    int32_t kept_step[TD_LINES_AXES];
    int32_t reduced[TD_LINES_AXES];
    int32_t reduced_step[TD_LINES_AXES];
} td_lines;

/* Elements of a line. */
static inline int32_t td_lines_depth(const td_lines *restrict lines)
{
    return lines->reduced[0] * lines->reduced[1] * lines->reduced[2];
}

/* How many lines there are. */
static inline int32_t td_lines_count(const td_lines *restrict lines)
{
    return lines->kept[0] * lines->kept[1] * lines->kept[2];
}

/* Where line number `line` begins. */
static inline int32_t td_lines_start(const td_lines *restrict lines, int32_t line)
{
    const int32_t last = line % lines->kept[2];
    const int32_t rest = line / lines->kept[2];
    return last * lines->kept_step[2] + rest % lines->kept[1] * lines->kept_step[1] +
           rest / lines->kept[1] * lines->kept_step[0];
}

#endif
