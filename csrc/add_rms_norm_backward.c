/* add_rms_norm_backward: csrc/cpu/row_norm_backward.h has the formula. Units are blocks of rows, then of columns. */

#include "row_norm_backward.h"

static void add_rms_norm_backward_rows(const add_rms_norm_backward_args *a, int64_t begin, int64_t end) {
    const norm_gradients rows = {
        .grad_y = a->grad_y,
        .grad_total = a->grad_residual_out,
        .x = a->residual_out,
        .weight = a->weight,
        .rstd = a->rstd,
        .grad_x = a->grad_x,
        .weight_sums = a->grad_weight ? a->partial : NULL,
        .offset = a->offset,
        .rows = a->rows,
        .n = a->n,
        .blocks = a->blocks,
        .stride = a->columns,
    };
    norm_gradients_of_rows(&rows, false, true, begin, end);
}

static void add_rms_norm_backward_columns(const add_rms_norm_backward_args *a, int64_t begin, int64_t end) {
    norm_add_partial_rows(a->partial, a->blocks, a->columns, a->n, a->grad_weight, begin, end);
}
