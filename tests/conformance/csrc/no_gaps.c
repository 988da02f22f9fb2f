static void no_gaps_find(const no_gaps_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        if (load(a->x + i) == -1234) {
            body_error(a, "x[%" PRId64 "]: expected no gap, got %g", i, (double)load(a->x + i));
        }
    }
}

static void no_gaps_copy(const no_gaps_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        a->y[i] = a->x[i];
    }
}
