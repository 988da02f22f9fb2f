#include "rows.h"

static void biased_lists(const biased_lists_args *a, int64_t begin, int64_t end) {
    for (int64_t i = 0; i < a->xs_count && begin < end; i++) {
        const int64_t n = a->n[i];
        for (int64_t j = 0; j < a->s[i] * n; j++) {
            acc_t y = load(a->xs[i] + j);
            if (a->scales != NULL)
                y *= load(a->scales[i] + j / n * a->scales_stride[i][0] + j % n);
            if (a->biases[i] != NULL)
                y += load(a->biases[i] + element_offset(j, a->biases_dim[i], a->biases_size[i], a->biases_stride[i]));
            store(a->ys[i] + j, y);
        }
    }
    for (int64_t i = 0; i < a->terms_count && begin < end; i++) {
        acc_t sum = 0;
        for (int64_t j = 0; j < 2 * a->k; j++)
            sum += load(a->by + j % a->k) *
                   load(a->terms[i] + j / a->k * a->terms_stride[i][0] + j % a->k * a->terms_stride[i][1]);
        store(a->sums + i, sum);
    }
}
