static void tripled(const tripled_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const acc_t x = load(a->x + i);
        store(a->y + i, a->metadata * x);
        if (a->kept_half != NULL) {
            a->kept_half[i] = x / 2;
        }
    }
}
