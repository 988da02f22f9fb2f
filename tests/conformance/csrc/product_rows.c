static void product_rows(const product_rows_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin * a->n; i < end * a->n; i++) {
        store(a->y + i, load(a->x + i) * load(a->w + i % a->n));
    }
}
