static void alike_matrix_backward(const alike_matrix_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < a->n; j++) {
            const acc_t value = load(a->grad_y + i * a->grad_y_stride[0] + j * a->grad_y_stride[1]);
            store(a->grad_x + i * a->grad_x_stride[0] + j * a->grad_x_stride[1], 3 * value);
        }
    }
}
