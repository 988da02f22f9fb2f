static void weigh_rows_backward(const weigh_rows_backward_args *a, int64_t begin, int64_t end) {
    acc_t powers = 0;
    for (int64_t i = 0; i < a->powers_count; i++) {
        powers += (acc_t)a->powers[i];
    }
    for (int64_t j = begin; j < end; j++) {
        const acc_t weight = a->w == NULL ? 1 : (acc_t)load_W(a->w + j);
        acc_t sum = 0;
        for (int64_t i = j; i < a->rows * a->n; i += a->n) {
            const acc_t grad = load(a->grad_y + i) * powers;
            sum += grad * load(a->x + i);
            if (a->grad_x != NULL) {
                store(a->grad_x + i, grad * weight);
            }
        }
        if (a->grad_w != NULL) {
            store_W(a->grad_w + j, (W_acc_t)sum);
        }
    }
}
