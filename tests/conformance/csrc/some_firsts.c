static void some_firsts(const some_firsts_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        a->y[i] = a->s[i] > 0 ? a->xs[i][0] : a->x[0];
    }
}
