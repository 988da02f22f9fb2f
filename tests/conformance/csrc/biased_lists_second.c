#include "rows.h"

static acc_t scale_at(const biased_lists_second_args *a, int64_t i, int64_t j) {
    return a->scales == NULL
               ? 1
               : load(a->scales[i] + element_offset(j, a->scales_dim[i], a->scales_size[i], a->scales_stride[i]));
}

static void biased_lists_second(const biased_lists_second_args *a, int64_t begin, int64_t end) {
    for (int64_t i = 0; i < a->xs_count && begin < end; i++) {
        for (int64_t j = 0; j < a->s[i] * a->n[i]; j++) {
            const acc_t to_x = load(a->grad_grad_xs[i] + j), grad = load(a->grad_ys[i] + j);
            const acc_t to_scale = a->grad_grad_scales != NULL ? load(a->grad_grad_scales[i] + j) : 0;
            const acc_t to_bias = a->grad_grad_biases[i] != NULL ? load(a->grad_grad_biases[i] + j) : 0;
            if (a->grad_grad_ys[i] != NULL)
                store(a->grad_grad_ys[i] + j, to_x * scale_at(a, i, j) + to_bias + to_scale * load(a->xs[i] + j));
            if (a->grad_xs[i] != NULL)
                store(a->grad_xs[i] + j, to_scale * grad);
            if (i < a->grad_scales_count && a->grad_scales[i] != NULL)
                store(a->grad_scales[i] + j, to_x * grad);
        }
    }
    for (int64_t i = 0; i < a->grad_grad_terms_count && begin < end && a->grad_grad_sums != NULL; i++) {
        acc_t sum = 0;
        for (int64_t j = 0; j < 2 * a->k; j++)
            sum += load(a->grad_grad_terms[i] + j) * load(a->by + j % a->k);
        store(a->grad_grad_sums + i, sum);
    }
}
