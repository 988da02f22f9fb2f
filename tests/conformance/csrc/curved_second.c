static void curved_second(const curved_second_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const acc_t grad = 3 * load(a->grad_grad_x + i);
        if (a->grad_grad_y != NULL) {
            store(a->grad_grad_y + i, grad * a->squares[i]);
        }
        if (a->grad_squares != NULL) {
            a->grad_squares[i] = grad * load(a->grad_y + i);
        }
    }
}
