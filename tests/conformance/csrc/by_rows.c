static void by_rows(const by_rows_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        const scalar_t *const x = a->x + row * a->x_stride[0];
        for (int64_t j = 0; j < a->n; j++) {
            store(a->y + row * a->n + j, load(x + j) * load(a->w + j));
        }
    }
}
