static void tagged(const tagged_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin * a->n; i < end * a->n; i++) {
        store(a->y + i, 2 * load(a->x + i));
    }
}
