/* td_depthwise_3x3_w8a8_dsp.c - rows of a depthwise 3x3 convolution with a stride of 1 by td_slide_dsp.h. */
#include "td_depthwise_conv2d_dsp.h"

#include "td_slide_dsp.h"

/* The pixels of a column of the window's three rows, from left to right. */
typedef struct {
    const int8_t *pixels[3];
    int32_t step[3]; /* from one column to the next */
    int32_t at;      /* the column */
} td_column;

/* Move to the next column; what is outside the rows is the pixel `pad`. */
static inline void td_next_column(td_column *c, int32_t width, const int8_t *const *rows, const int8_t *pad)
{
    c->at++;
    if (c->at > 0 && c->at < width) {
        for (int32_t ky = 0; ky < 3; ky++) {
            c->pixels[ky] += c->step[ky];
        }
    } else {
        for (int32_t ky = 0; ky < 3; ky++) {
            c->pixels[ky] = c->at == 0 ? rows[ky] : pad;
        }
    }
}

void td_depthwise_3x3_w8a8_dsp(const td_depthwise_conv2d_dsp_params *restrict p, const int8_t *const *rows,
                               const uint32_t *restrict stream, const int8_t *restrict pad, int8_t *out,
                               int16_t *scratch)
{
    const int32_t channels = p->window.channels;
    const int32_t width = p->window.in_width;
    td_slide_dsp slide = {channels, scratch, scratch + 3 * channels};
    td_column column = {{pad, pad, pad}, {0, 0, 0}, -p->window.pad_left - 1};
    for (int32_t ky = 0; ky < 3; ky++) {
        column.step[ky] = rows[ky] == pad ? 0 : channels;
    }
    td_next_column(&column, width, rows, pad);
    td_slide_column_dsp(column.pixels, slide.old, channels);
    td_next_column(&column, width, rows, pad);
    td_slide_column_dsp(column.pixels, slide.middle, channels);
    for (int32_t x = 0; x < p->out_width; x++) {
        int16_t *const kept = slide.old;
        td_next_column(&column, width, rows, pad);
        td_slide_pixel_dsp(column.pixels, stream, out, &slide);
        slide.old = slide.middle;
        slide.middle = kept;
        if (p->act_min > -128 || p->act_max < 127) {
            for (int32_t c = 0; c < channels; c++) {
                out[c] = (int8_t)(out[c] < p->act_min ? p->act_min : out[c] > p->act_max ? p->act_max : out[c]);
            }
        }
        out += channels;
    }
}
