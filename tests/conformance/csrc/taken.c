static void taken(const taken_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const scalar_t *const row = a->x + a->index[i] * a->n;
        memcpy(a->y + i * a->n, row, (size_t)a->n * sizeof *row);
        store(a->column + i, load(row + a->n - 1));
    }
}
