static void add_bias(const add_bias_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        const scalar_t *bias = a->bias;
        int64_t left = row;
        for (int64_t dim = a->bias_dim - 2; dim >= 0; dim--) {
            bias += left % a->bias_size[dim] * a->bias_stride[dim];
            left /= a->bias_size[dim];
        }
        const int64_t column = a->bias != NULL ? a->bias_stride[a->bias_dim - 1] : 0;
        for (int64_t j = 0; j < a->n; j++) {
            const acc_t x = load(a->x + row * a->n + j) * load(a->scale + row * a->scale_stride[0] + j);
            store(a->y + row * a->n + j, a->bias != NULL ? x + load(bias + j * column) : x);
        }
    }
}
