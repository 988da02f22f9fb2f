static void narrowed(const narrowed_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const acc_t scale = CPU_LOAD(float8_e8m0fnu)(a->scale + i), sum = load(a->x + i) * scale + a->add[i];
        store(a->y + i, sum);
        a->wide[i] = sum;
        CPU_STORE(float8_e8m0fnu)(a->powers + i, 2 * scale);
    }
}
