static void row_sums(const row_sums_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        acc_t sum = 0;
        for (int64_t j = 0; j < a->n; j++) {
            const acc_t x = load(a->x + i * a->n + j);
            sum += x;
            store(a->y + i * a->n + j, 3 * x);
            if (a->wide != NULL && j < a->n - a->pad) {
                store(a->wide + i * (a->n - a->pad) + j, 5 * x);
            }
        }
        if (a->total != NULL) {
            store(a->total + i, sum);
        }
    }
}
