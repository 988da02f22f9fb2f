static void squared_list_backward_lists(const squared_list_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; a->grad_xs[i] != NULL && j < a->s[i]; j++) {
            const acc_t slope = 2 * load(a->xs[i] + j) * load(a->w);
            store(a->grad_xs[i] + j, slope * load(a->grad_ys[i] + j) + load(a->grad_sums + i));
        }
    }
}

static void squared_list_backward_w(const squared_list_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; unit++) {
        acc_t sum = 0;
        for (int64_t i = 0; i < a->xs_count; i++) {
            for (int64_t j = 0; j < a->s[i]; j++) {
                sum += a->squares[i][j] * load(a->grad_ys[i] + j);
            }
        }
        store(a->grad_w, sum);
    }
}
