/* td_batch_matmul_body.h - the loops of td_batch_matmul_*.c, which say before including it what a number is:
 *
 * TD_X, TD_SUM                 element types of the matrices and of sums
 * TD_MAC(done, sum, a, b)      the sum and one product
 * td_done, td_finish(done, sum)   what becomes of a sum
 *
 * Each sum begins at zero and goes in rising order. Four columns go together, each with a sum of its own.
 */

/* `columns` (1 or 4) results of a row. */
TD_INLINE void td_matmul_columns(const td_matmul_shape *restrict g, const td_done *restrict done, const TD_X *a,
                                 const TD_X *b, int32_t columns, TD_X *out)
{
    const TD_X *const end = a + g->terms;
    const int32_t step = g->columns;
    TD_SUM s0 = 0;
    if (columns == 1) {
        for (; a != end; a++, b += step) {
            s0 = TD_MAC(done, s0, *a, b[0]);
        }
        out[0] = td_finish(done, s0);
        return;
    }
    TD_SUM s1 = 0;
    TD_SUM s2 = 0;
    TD_SUM s3 = 0;
    for (; a != end; a++, b += step) {
        const TD_X v = *a;
        s0 = TD_MAC(done, s0, v, b[0]);
        s1 = TD_MAC(done, s1, v, b[1]);
        s2 = TD_MAC(done, s2, v, b[2]);
        s3 = TD_MAC(done, s3, v, b[3]);
    }
    out[0] = td_finish(done, s0);
    out[1] = td_finish(done, s1);
    out[2] = td_finish(done, s2);
    out[3] = td_finish(done, s3);
}

static TD_X *td_matmul_one(const td_matmul_shape *restrict g, const td_done *restrict done, const TD_X *a,
                           const TD_X *b, TD_X *out)
{
    for (int32_t row = 0; row < g->rows; row++, a += g->terms, out += g->columns) {
        int32_t column = 0;
        for (; g->columns - column >= 4; column += 4) {
            td_matmul_columns(g, done, a, b + column, 4, out + column);
        }
        for (; column < g->columns; column++) {
            td_matmul_columns(g, done, a, b + column, 1, out + column);
        }
    }
    return out;
}

static void td_batch_matmul(const td_matmul_shape *restrict g, const td_done *restrict done, const TD_X *a,
                            const TD_X *b, TD_X *out)
{
    for (int32_t i = 0; i < g->size[0]; i++) {
        for (int32_t j = 0; j < g->size[1]; j++) {
            for (int32_t k = 0; k < g->size[2]; k++) {
                for (int32_t l = 0; l < g->size[3]; l++) {
                    const TD_X *const from =
                        a + i * g->a_step[0] + j * g->a_step[1] + k * g->a_step[2] + l * g->a_step[3];
                    const TD_X *const with =
                        b + i * g->b_step[0] + j * g->b_step[1] + k * g->b_step[2] + l * g->b_step[3];
                    out = td_matmul_one(g, done, from, with, out);
                }
            }
        }
    }
}
