static void fill_view(const fill_view_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin * a->n; i < end * a->n; i++) {
        store(a->y + i, (acc_t)a->k);
    }
}
