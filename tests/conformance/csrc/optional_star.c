static void optional_star(const optional_star_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        acc_t sum = load(a->x + i);
        for (int64_t k = 0; k < a->s; k++) {
            sum += (a->a != NULL ? load(a->a + k * a->n + i) : 0) + (a->b != NULL ? load(a->b + k) : 0);
        }
        store(a->y + i, sum);
    }
}
