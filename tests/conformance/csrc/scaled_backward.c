static void scaled_backward(const scaled_backward_args *a, int64_t begin, int64_t end) {
    const acc_t s = (a->s_given ? a->s : 1) * (acc_t)(a->k_given ? a->k : 1) * (a->flip_given && a->flip ? -1 : 1);
    for (int64_t row = begin; row < end; row++) {
        for (int64_t i = 0; i < a->n; i++) {
            store(a->grad_x + row * a->n + i, s * load(a->grad_y + row * a->wide + i));
        }
    }
}
