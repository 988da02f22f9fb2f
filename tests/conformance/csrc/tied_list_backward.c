static void tied_list_backward(const tied_list_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j++) {
        for (int64_t i = 0; i < a->xs_count; i++) {
            if (a->grad_xs[i] != NULL) {
                a->grad_xs[i][j] = 2 * a->xs[i][j] * load(a->grad_y + j);
            }
        }
    }
}
