static void product_rows_backward(const product_rows_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j++) {
        acc_t sum = 0;
        for (int64_t i = j; i < a->r * a->n; i += a->n) {
            if (a->grad_x != NULL) {
                store(a->grad_x + i, load(a->grad_y + i) * load(a->w + j));
            }
            sum += load(a->grad_y + i) * load(a->x + i);
        }
        if (a->grad_w != NULL) {
            store(a->grad_w + j, sum);
        }
    }
}
