static void scale_list(const scale_list_args *a, int64_t begin, int64_t end) {
    const acc_t by = load(a->by) + load(a->by + 1);
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < a->s[i]; j++) {
            store(a->xs[i] + j, load(a->xs[i] + j) * load(a->factors[i] + j) * by);
        }
    }
}
