#include "rows.h"

static void biased_lists_backward(const biased_lists_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = 0; i < a->xs_count && begin < end; i++) {
        for (int64_t j = 0; j < a->s[i] * a->n[i]; j++) {
            const acc_t grad = load(a->grad_ys[i] + j);
            const acc_t scale =
                a->scales == NULL
                    ? 1
                    : load(a->scales[i] + element_offset(j, a->scales_dim[i], a->scales_size[i], a->scales_stride[i]));
            if (a->grad_xs[i] != NULL)
                store(a->grad_xs[i] + j, grad * scale);
            if (a->grad_biases[i] != NULL)
                store(a->grad_biases[i] + j, grad);
            if (i < a->grad_scales_count && a->grad_scales[i] != NULL)
                store(a->grad_scales[i] + j, grad * load(a->xs[i] + j));
        }
    }
    for (int64_t i = 0; i < a->terms_count && begin < end; i++) {
        for (int64_t j = 0; j < 2 * a->k && a->grad_terms[i] != NULL; j++)
            store(a->grad_terms[i] + j, load(a->grad_sums + i) * load(a->by + j % a->k));
    }
}
