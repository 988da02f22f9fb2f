static void noise_of(const noise_of_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        a->y[i] = a->seed[i % 2] ^ i;
    }
}
