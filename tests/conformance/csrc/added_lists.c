static void added_lists(const added_lists_args *a, int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j++) {
        acc_t sum = load(a->x + j);
        for (int64_t i = 0; i < a->xs_count; i++) {
            sum += a->xs[i] != NULL ? (acc_t)(i + 1) * load(a->xs[i] + j) : 0;
        }
        for (int64_t i = 0; i < a->more_count; i++) {
            sum += a->t[i] > 0 ? load(a->more[i] + j % a->t[i]) : 0;
        }
        store(a->y + j, sum);
    }
}
