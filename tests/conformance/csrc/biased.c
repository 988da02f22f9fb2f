static void biased(const biased_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin * a->n; i < end * a->n; i++) {
        store(a->y + i, load(a->x + i) + (a->bias != NULL ? load(a->bias + i % a->n) : 0));
    }
}
