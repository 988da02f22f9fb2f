static void reverse_bits(const reverse_bits_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        a->y[i] = a->x[a->n - 1 - i];
    }
}
