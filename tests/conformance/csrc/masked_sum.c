static void masked_sum(const masked_sum_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        acc_t sum = 0;
        int64_t any = 0;
        for (int64_t j = i * a->n; j < (i + 1) * a->n; j++) {
            sum += load_M(a->mask + j) != 0 ? load(a->x + j) : 0;
            any |= load_M(a->mask + j);
        }
        a->y[i] = sum;
        store_M(a->any + i, any);
    }
}
