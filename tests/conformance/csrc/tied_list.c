static void tied_list(const tied_list_args *a, int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j++) {
        acc_t sum = load(a->x + j);
        for (int64_t i = 0; i < a->xs_count; i++) {
            sum += a->xs[i][j] * a->xs[i][j];
        }
        store(a->y + j, sum);
    }
}
