static void list_sum(const list_sum_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        acc_t sum = load(a->x + i);
        for (int64_t j = 0; j < a->xs_count; j++) {
            sum += a->xs[j] != NULL ? load(a->xs[j] + i) : 0;
        }
        store(a->y + i, sum);
    }
}
