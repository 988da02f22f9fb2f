static void in_columns(const in_columns_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        for (int64_t i = 0; i < a->n; i++) {
            store(a->y + i * a->m + row, load(a->x + row * a->n + i) + 1);
        }
    }
}
