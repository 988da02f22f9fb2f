static void misread(const misread_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        acc_t sum = 0;
        for (int64_t j = 0; j < a->k; j++) {
            sum += load(a->x + i * a->k + j);
        }
        store(a->y + i, sum);
    }
}
