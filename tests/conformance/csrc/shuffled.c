static void shuffled(const shuffled_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin * a->n; i < end * a->n; i++) {
        a->x[i] += (float)((a->seed[0] % 2 + i) % 2);
    }
}
