static void sum_dim_backward(const sum_dim_backward_args *a, int64_t begin, int64_t end) {
    (void)begin;
    (void)end;
    const int64_t dim = a->dim < 0 ? a->dim + a->x_dim : a->dim;
    int64_t inner = 1;
    for (int64_t d = dim + 1; d < a->x_dim; d++) {
        inner *= a->x_size[d];
    }
    for (int64_t i = 0; i < a->s; i++) {
        const int64_t kept = i / (inner * a->x_size[dim]);
        acc_t sum = load(a->grad_y + kept * inner + i % inner);
        for (int64_t j = 0; j <= a->k; j++) {
            sum += 2 * (acc_t)(j + 1) * load(a->grad_z + (kept * (a->k + 1) + j) * inner + i % inner);
        }
        store(a->grad_x + i, sum);
    }
}
