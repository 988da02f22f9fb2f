static void biased_backward_rows(const biased_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin * a->n; i < end * a->n; i++) {
        store(a->grad_x + i, load(a->grad_y + i));
    }
}

static void biased_backward_columns(const biased_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t column = begin; column < end; column++) {
        acc_t sum = 0;
        for (int64_t row = 0; row < a->rows; row++) {
            sum += load(a->grad_y + row * a->n + column);
        }
        store(a->grad_bias + column, sum);
    }
}
