static void running_sum(const running_sum_args *a, int64_t begin, int64_t end) {
    acc_t sum = 0;
    for (int64_t i = 0; begin < end && i < a->n; i++) {
        sum += load(a->x + i);
        store(a->y + i, sum);
    }
}
