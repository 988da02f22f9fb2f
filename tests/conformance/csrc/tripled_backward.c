static void tripled_backward(const tripled_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->grad_x + i, a->metadata * load(a->grad_y + i) + 0 * a->kept_half[i]);
    }
}
