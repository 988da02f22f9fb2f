/* cross_entropy_gradient_: csrc/cpu/cross_entropy_rows.h has the formulas. Units are rows. */

#include "cross_entropy_rows.h"
#include "rows.h"

static void cross_entropy_gradient_(const cross_entropy_gradient__args *a, int64_t begin, int64_t end) {
    const int64_t n = a->n;
    const loss_terms terms = {(acc_t)a->label_smoothing, (acc_t)a->z_loss, n};
    acc_t kept[SCORE_KEPT];
    for (int64_t row = begin; row < end; row++) {
        scalar_t *logits = a->logits + row * n;
        const int64_t target = a->target[row];
        if (target == a->ignore_index) {
            a->loss[row] = 0;
            memset(logits, 0, (size_t)n * sizeof *logits);
            continue;
        }
        const score_row s = logit_row(logits, n, n <= SCORE_KEPT ? kept : NULL);
        const row_total total = total_of_row(&s, 0);
        a->loss[row] = row_loss(&terms, &s, &total, target);
        const acc_t factor =
            a->grad_loss ? a->grad_loss[element_offset(row, a->grad_loss_dim, a->grad_loss_size, a->grad_loss_stride)]
                         : 1;
        const gradient_terms g = row_gradient(&terms, factor, total.lse);
        store_gradient(&s, &g, &total, target, logits, row + 1 < end ? n : 0, false);
    }
}
