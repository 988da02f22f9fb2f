static void list_norm(const list_norm_args *a, int64_t begin, int64_t end) {
    if (begin == end) {
        return;
    }
    acc_t all = 0;
    for (int64_t i = 0; i < a->xs_count; i++) {
        acc_t sum = 0;
        for (int64_t j = 0; j < a->s[i]; j++) {
            sum += load(a->xs[i] + j) * load(a->xs[i] + j);
        }
        a->norms[i] = sum;
        all += sum;
    }
    for (int64_t i = 0; i < a->k; i++) {
        a->y[i] = all;
    }
}
