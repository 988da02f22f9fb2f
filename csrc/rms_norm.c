/* rms_norm: csrc/cpu/row_norm.h has the formula. Units are rows. */

#include "row_norm.h"

static void rms_norm(const rms_norm_args *a, int64_t begin, int64_t end) {
    const norm_rows rows = {
        .x = a->x,
        .weight = a->weight,
        .y = a->y,
        .rstd = a->rstd,
        .offset = a->offset,
        .eps = a->eps,
        .rows = a->rows,
        .n = a->n,
    };
    norm_of_rows(&rows, false, false, begin, end);
}
