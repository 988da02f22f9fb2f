static void swapped(const swapped_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        scalar_t *const y = a->y + row / a->m * a->m * a->n + row % a->m;
        for (int64_t j = 0; j < a->n; j++) {
            store(y + j * a->m, -load(a->x + row * a->n + j));
        }
    }
}
