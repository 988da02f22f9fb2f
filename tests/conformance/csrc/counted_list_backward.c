static void counted_list_backward(const counted_list_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        a->grad_x[i] = a->grad_y[i] * (double)a->factor;
    }
}
