static void sum_dim(const sum_dim_args *a, int64_t begin, int64_t end) {
    (void)begin;
    (void)end;
    const int64_t dims = a->copy_dim - 1, dim = a->dim < 0 ? a->dim + dims : a->dim;
    int64_t outer = 1, inner = 1;
    for (int64_t d = 0; d < dims; d++) {
        outer *= d < dim ? a->copy_size[1 + d] : 1;
        inner *= d > dim ? a->copy_size[1 + d] : 1;
    }
    const int64_t n = a->copy_size[1 + dim];
    for (int64_t i = 0; i < a->s; i++) {
        store(a->copy + i, load(a->x + i));
        store(a->copy + a->s + i, 2 * load(a->x + i));
    }
    for (int64_t i = 0; i < outer * inner; i++) {
        acc_t once = 0, twice = 0;
        for (int64_t block = 0; block < n; block += 256) { /* sums of sums round less */
            acc_t sum = 0, sum_of_twice = 0;
            for (int64_t j = block; j < n && j < block + 256; j++) {
                const int64_t place = (i / inner * n + j) * inner + i % inner;
                sum += load(a->copy + place);
                sum_of_twice += load(a->copy + a->s + place);
            }
            once += sum;
            twice += sum_of_twice;
        }
        store(a->y + i, once);
        for (int64_t j = 0; j <= a->k; j++) {
            store(a->z + (i / inner * (a->k + 1) + j) * inner + i % inner, twice * (acc_t)(j + 1));
        }
    }
}
