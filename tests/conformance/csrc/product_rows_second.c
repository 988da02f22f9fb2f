static void product_rows_second(const product_rows_second_args *a, int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j++) {
        const acc_t by_w = load(a->grad_grad_w + j);
        acc_t sum = 0;
        for (int64_t i = j; i < a->r * a->n; i += a->n) {
            const acc_t by_x = load(a->grad_grad_x + i);
            if (a->grad_grad_y != NULL) {
                store(a->grad_grad_y + i, by_x * load(a->w + j) + by_w * load(a->x + i));
            }
            if (a->grad_x != NULL) {
                store(a->grad_x + i, by_w * load(a->grad_y + i));
            }
            sum += by_x * load(a->grad_y + i);
        }
        if (a->grad_w != NULL) {
            store(a->grad_w + j, sum);
        }
    }
}
