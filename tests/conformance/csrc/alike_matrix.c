static void alike_matrix(const alike_matrix_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < a->n; j++) {
            const acc_t value = load(a->x + i * a->x_stride[0] + j * a->x_stride[1]);
            store(a->y + i * a->y_stride[0] + j * a->y_stride[1], 3 * value);
        }
    }
}
