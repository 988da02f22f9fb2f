/* Where the row of a broadcast input starts that belongs to unit `i`; its sizes are aligned with those of scale at the
 * back. */
static int64_t row_offset(const outer_sum_args *a, const int64_t *sizes, const int64_t *strides, int64_t dims,
                          int64_t i) {
    int64_t offset = 0;
    for (int64_t d = a->scale_dim - 1; d >= 0; i /= a->scale_size[d], d--) {
        const int64_t own = d - (a->scale_dim - dims);
        if (own >= 0 && sizes[own] != 1) {
            offset += i % a->scale_size[d] * strides[own];
        }
    }
    return offset;
}

static void outer_sum(const outer_sum_args *a, int64_t begin, int64_t end) {
    int64_t units = 1;
    for (int64_t d = 0; d < a->scale_dim; d++) {
        units *= a->scale_size[d];
    }
    for (int64_t i = begin; i < end; i++) {
        const scalar_t *const p = a->a + row_offset(a, a->a_size, a->a_stride, a->a_dim - 1, i);
        const scalar_t *const q = a->b + row_offset(a, a->b_size, a->b_stride, a->b_dim - 1, i);
        const acc_t s = load(a->scale + row_offset(a, a->scale_size, a->scale_stride, a->scale_dim, i));
        for (int64_t j = 0; j < a->n; j++) {
            const acc_t sum = (load(p + j * a->a_stride[a->a_dim - 1]) + load(q + j * a->b_stride[a->b_dim - 1])) * s;
            store(a->y + i * a->n + j, sum);
            for (int64_t c = 0; c < 6; c++) {
                store(a->copies + (((c / 3 * units) + i) * a->n + j) * 3 + c % 3, sum);
            }
        }
    }
}
