static void add_into(const add_into_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin * a->n; i < end * a->n; i++) {
        store(a->x + i, load(a->x + i) + load(a->y + i % a->n) * (acc_t)a->s);
    }
}
