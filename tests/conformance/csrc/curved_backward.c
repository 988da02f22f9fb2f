static void curved_backward(const curved_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->grad_x + i, 3 * load(a->grad_y + i) * a->squares[i]);
    }
}
