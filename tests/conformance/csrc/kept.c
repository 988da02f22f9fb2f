static void kept(const kept_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const acc_t x = load(a->x + i);
        if (a->sums != NULL) {
            a->sums[i] = 3 * x * x;
        }
        store(a->y + i, x * x * x);
    }
}
