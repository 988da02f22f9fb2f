static void scale_rows(const scale_rows_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        scalar_t *const x = a->x + row * a->x_stride[0];
        for (int64_t i = 0; i < a->n; i++) {
            store(x + i, load(x + i) * (a->s != NULL ? load(a->s + i) : 2));
        }
    }
}
