/* cross_entropy: csrc/cpu/cross_entropy_rows.h has the formula. Units are rows. */

#include "cross_entropy_rows.h"

static void cross_entropy(const cross_entropy_args *a, int64_t begin, int64_t end) {
    const loss_terms terms = {(acc_t)a->label_smoothing, (acc_t)a->z_loss, a->n};
    for (int64_t row = begin; row < end; row++) {
        const int64_t target = a->target[row];
        const score_row s = logit_row(a->logits + row * a->n, a->n, NULL);
        const row_total total = total_of_row(&s, row + 1 < end ? a->n : 0);
        a->loss[row] = target == a->ignore_index ? 0 : row_loss(&terms, &s, &total, target);
        if (a->lse)
            a->lse[row] = total.lse;
    }
}
