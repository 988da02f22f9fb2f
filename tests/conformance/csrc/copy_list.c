static void copy_list(const copy_list_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < a->s[i]; j++) {
            a->ys[i][j] = a->xs[i][j];
            a->zs[i][j] = 2 * a->xs[i][j];
        }
    }
    if (begin == 0) {
        *a->total = *a->total + 1;
    }
}
