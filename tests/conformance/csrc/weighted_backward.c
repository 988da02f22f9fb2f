static void weighted_backward(const weighted_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->grad_x + i, load(a->grad_y + i) * load(a->w + i));
    }
}
