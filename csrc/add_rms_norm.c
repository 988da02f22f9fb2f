/* add_rms_norm: csrc/cpu/row_norm.h has the formula. Units are rows. */

#include "row_norm.h"

static void add_rms_norm(const add_rms_norm_args *a, int64_t begin, int64_t end) {
    const norm_rows rows = {
        .x = a->x,
        .residual = a->residual,
        .weight = a->weight,
        .y = a->y,
        .total = a->residual_out,
        .rstd = a->rstd,
        .offset = a->offset,
        .eps = a->eps,
        .rows = a->rows,
        .n = a->n,
    };
    norm_of_rows(&rows, false, true, begin, end);
}
