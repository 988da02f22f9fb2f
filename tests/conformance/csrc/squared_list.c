static void squared_list(const squared_list_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        acc_t sum = 0;
        for (int64_t j = 0; j < a->s[i]; j++) {
            const acc_t x = load(a->xs[i] + j);
            store(a->ys[i] + j, x * x * load(a->w));
            sum += x;
            if (a->squares != NULL) {
                a->squares[i][j] = x * x;
            }
        }
        store(a->sums + i, sum);
    }
}
