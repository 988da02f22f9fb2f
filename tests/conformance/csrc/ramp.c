static void ramp(const ramp_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->y + i, (acc_t)(a->start + (double)(2 * i)));
    }
}
