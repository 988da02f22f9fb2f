static void row_sums_backward(const row_sums_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < a->n; j++) {
            acc_t grad = 3 * load(a->grad_y + i * a->n + j);
            grad += a->grad_total != NULL ? load(a->grad_total + i) : 0;
            grad += a->grad_wide != NULL && j < a->m ? 5 * load(a->grad_wide + i * a->m + j) : 0;
            store(a->grad_x + i * a->n + j, grad);
        }
    }
}
