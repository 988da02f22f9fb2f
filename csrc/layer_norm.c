/* layer_norm: csrc/cpu/row_norm.h has the formula. Units are rows. */

#include "row_norm.h"

static void layer_norm(const layer_norm_args *a, int64_t begin, int64_t end) {
    const norm_rows rows = {
        .x = a->x,
        .weight = a->weight,
        .bias = a->bias,
        .y = a->y,
        .mean = a->mean,
        .rstd = a->rstd,
        .eps = a->eps,
        .rows = a->rows,
        .n = a->n,
    };
    norm_of_rows(&rows, true, false, begin, end);
}
