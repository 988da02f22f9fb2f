/* cross_entropy_backward: csrc/cpu/cross_entropy_rows.h has the formula. Units are rows. */

#include "cross_entropy_rows.h"
#include "rows.h"

static void cross_entropy_backward(const cross_entropy_backward_args *a, int64_t begin, int64_t end) {
    const int64_t n = a->n;
    const loss_terms terms = {(acc_t)a->label_smoothing, (acc_t)a->z_loss, n};
    const bool stream = vector_streams_rows(a->grad_logits, a->rows, n);
    for (int64_t row = begin; row < end; row++) {
        scalar_t *gradient = a->grad_logits + row * n;
        const int64_t target = a->target[row];
        if (target == a->ignore_index) {
            memset(gradient, 0, (size_t)n * sizeof *gradient);
            continue;
        }
        const score_row s = logit_row(a->logits + row * n, n, NULL);
        const acc_t factor =
            a->grad_loss[element_offset(row, a->grad_loss_dim, a->grad_loss_size, a->grad_loss_stride)];
        const row_total total = total_of_lse(a->lse[row]);
        const gradient_terms g = row_gradient(&terms, factor, total.lse);
        store_gradient(&s, &g, &total, target, gradient, row + 1 < end ? n : 0, stream);
    }
    if (stream)
        vector_stream_end();
}
