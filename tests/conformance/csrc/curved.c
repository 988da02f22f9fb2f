static void curved(const curved_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const acc_t x = load(a->x + i);
        if (a->squares != NULL) {
            a->squares[i] = x * x;
        }
        store(a->y + i, x * x * x);
    }
}
