static void shift_list(const shift_list_args *a, int64_t begin, int64_t end) {
    for (int64_t k = begin; k < end; k++) {
        for (int64_t i = 0; i < a->s[k] * a->n; i++) {
            store(a->xs[k] + i, load(a->xs[k] + i) + load(a->by + i % a->n));
        }
    }
}
