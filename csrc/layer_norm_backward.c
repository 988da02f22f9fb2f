/* layer_norm_backward: csrc/cpu/row_norm_backward.h has the formula. Units are blocks of rows, then of columns. */

#include "row_norm_backward.h"

static void layer_norm_backward_rows(const layer_norm_backward_args *a, int64_t begin, int64_t end) {
    const norm_gradients rows = {
        .grad_y = a->grad_y,
        .x = a->x,
        .weight = a->weight,
        .mean = a->mean,
        .rstd = a->rstd,
        .grad_x = a->grad_x,
        .weight_sums = a->grad_weight ? a->partial : NULL,
        .bias_sums = a->grad_bias ? a->partial + a->columns : NULL,
        .rows = a->rows,
        .n = a->n,
        .blocks = a->blocks,
        .stride = 2 * a->columns,
    };
    norm_gradients_of_rows(&rows, true, false, begin, end);
}

static void layer_norm_backward_columns(const layer_norm_backward_args *a, int64_t begin, int64_t end) {
    if (a->grad_weight)
        norm_add_partial_rows(a->partial, a->blocks, 2 * a->columns, a->n, a->grad_weight, begin, end);
    if (a->grad_bias)
        norm_add_partial_rows(a->partial + a->columns, a->blocks, 2 * a->columns, a->n, a->grad_bias, begin, end);
}
