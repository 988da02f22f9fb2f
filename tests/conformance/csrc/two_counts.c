static void two_counts(const two_counts_args *a, int64_t begin, int64_t end) {
    (void)begin;
    (void)end;
    int64_t low = 0, high = 0;
    a->low[low++] = (scalar_t)*a->a; /* the bounds, as the body finds them */
    for (int64_t i = 0; i < a->m; i++) {
        a->both[i] = a->x[i];
        if (a->x[i] < 0) {
            a->low[low++] = a->x[i];
            a->low[low++] = -a->x[i];
        } else {
            a->high[2 * high] = a->x[i];
            a->high[2 * high++ + 1] = (scalar_t)*a->b;
        }
    }
    *a->a = low;
    *a->b = high;
}
