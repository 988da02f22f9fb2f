static void double_some(const double_some_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < a->s[i]; j++) {
            store(a->xs[i] + j, 2 * load(a->xs[i] + j));
            if (a->ys != NULL) {
                store(a->ys[i] + j, load(a->by) * load(a->ys[i] + j));
            }
        }
    }
}
