static void added_lists_backward(const added_lists_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end && a->grad_x != NULL; j++) {
        a->grad_x[j] = a->grad_y[j];
    }
    for (int64_t i = 0; i < a->grad_xs_count; i++) {
        for (int64_t j = begin; j < end && a->grad_xs[i] != NULL; j++) {
            store(a->grad_xs[i] + j, (acc_t)(i + 1) * load(a->grad_y + j));
        }
    }
    for (int64_t i = 0; begin == 0 && i < a->grad_more_count; i++) {
        for (int64_t j = 0; j < a->t[i] && a->grad_more[i] != NULL; j++) {
            acc_t sum = 0;
            for (int64_t k = j; k < a->n; k += a->t[i]) {
                sum += load(a->grad_y + k);
            }
            store(a->grad_more[i] + j, sum);
        }
    }
}
