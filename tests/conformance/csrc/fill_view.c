static void fill_view(const fill_view_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < a->n; j++) {
            store(a->y + i * a->y_stride[0] + j * a->y_stride[1], (acc_t)a->k);
        }
    }
}
