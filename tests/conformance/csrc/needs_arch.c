static void needs_arch(const needs_arch_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        a->y[i] = a->x[i] + 1;
    }
}
