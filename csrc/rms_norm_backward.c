/* rms_norm_backward: csrc/cpu/row_norm_backward.h has the formula. Units are blocks of rows, then of columns. */

#include "row_norm_backward.h"

static void rms_norm_backward_rows(const rms_norm_backward_args *a, int64_t begin, int64_t end) {
    const norm_gradients rows = {
        .grad_y = a->grad_y,
        .x = a->x,
        .weight = a->weight,
        .rstd = a->rstd,
        .grad_x = a->grad_x,
        .weight_sums = a->grad_weight ? a->partial : NULL,
        .offset = a->offset,
        .rows = a->rows,
        .n = a->n,
        .blocks = a->partial_size[0],
        .stride = a->partial_size[1],
    };
    norm_gradients_of_rows(&rows, false, false, begin, end);
}

static void rms_norm_backward_columns(const rms_norm_backward_args *a, int64_t begin, int64_t end) {
    norm_add_partial_rows(a->partial, a->partial_size[0], a->partial_size[1], a->n, a->grad_weight, begin, end);
}
