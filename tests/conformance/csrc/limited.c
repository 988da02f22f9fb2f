static void limited(const limited_args *a, int64_t begin, int64_t end) {
    const int64_t n = a->lo != NULL || a->hi != NULL ? a->n : 1;
    for (int64_t i = begin * n; i < end * n; i++) {
        acc_t y = load(a->x + i / n) * (a->mask == NULL || load_M(a->mask + i / n) != 0 ? 1 : 0);
        if (a->lo != NULL && !(y >= load(a->lo + i % n))) {
            y += load(a->lo + i % n) - y;
        }
        if (a->hi != NULL && !(y <= load(a->hi + i % n))) {
            y += load(a->hi + i % n) - y;
        }
        store(a->y + i, y);
    }
}
