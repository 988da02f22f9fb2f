static void positive_rows(const positive_rows_args *a, int64_t begin, int64_t end) {
    (void)begin;
    (void)end;
    int64_t count = 0;
    const int64_t most = *a->k;
    for (int64_t i = 0; i < a->m; i++) {
        a->sums[i] = a->x[i * a->n];
        if (a->x[i * a->n] > 0 && count < most) {
            a->index[count] = i;
            memcpy(a->rows + count * a->n, a->x + i * a->n, (size_t)a->n * sizeof *a->x);
            count++;
        }
    }
    for (int64_t i = count; i < most && a->total_given; i++) { /* as many as were asked for */
        a->index[i] = -1;
        memset(a->rows + i * a->n, 0, (size_t)a->n * sizeof *a->x);
    }
    *a->k = count + a->extra;
}
