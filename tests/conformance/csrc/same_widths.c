static void same_widths(const same_widths_args *a, int64_t begin, int64_t end) {
    acc_t added = a->b != NULL && a->m * a->t > 0 ? load(a->b) * (acc_t)(a->m + a->t) : 0;
    for (int64_t i = 0; i < a->ys_count && a->m > 0; i++) {
        added += a->ys[i] != NULL ? load(a->ys[i] + a->m - 1) : 0;
    }
    for (int64_t i = 0; i < a->zs_count; i++) {
        added += a->t * a->k[i] > 0 ? load(a->zs[i]) : 0;
    }
    for (int64_t j = begin; j < end; j++) {
        acc_t sum = added + (a->a != NULL ? load(a->a + j) : 0);
        for (int64_t i = 0; i < a->xs_count; i++) {
            sum += load(a->xs[i] + j);
        }
        store(a->y + j, sum);
    }
}
