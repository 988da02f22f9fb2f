/* gather_rows: y[i] = table[index[i]]. Units are rows of y; the host has checked the indices. */

static void gather_rows(const gather_rows_args *a, int64_t begin, int64_t end) {
    const size_t bytes = (size_t)a->n * sizeof(scalar_t);
    for (int64_t i = begin; i < end; i++)
        memcpy(a->y + i * a->n, a->table + load_I(a->index + i) * a->n, bytes);
}
