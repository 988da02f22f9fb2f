static void crossed(const crossed_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin * a->n; i < end * a->n; i++) {
        const acc_t left = load(a->a + i), right = load(a->b + i);
        store(a->first + i, right);
        store(a->second + i, left);
    }
}
