static void only_if_given(const only_if_given_args *a, int64_t begin, int64_t end) {
    (void)begin;
    (void)end;
    if (a->y == NULL) {
        return;
    }
    int64_t count = a->k;
    for (int64_t d = 1; d < a->w_dim; d++) {
        count *= a->w_size[d];
    }
    for (int64_t i = 0; i < count; i++) {
        store(a->y + i, load(a->x + i % a->n));
    }
}
