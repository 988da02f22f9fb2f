static void exchange(const exchange_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        acc_t sum = 0;
        for (int64_t i = row * a->n; i < (row + 1) * a->n; i++) {
            const acc_t x = load(a->a + i), y = a->b != NULL ? load(a->b + i) : 1;
            sum += x + y;
            store(a->a + i, y);
            if (a->b != NULL) {
                store(a->b + i, x);
            }
        }
        store(a->sum + row, sum);
    }
}
