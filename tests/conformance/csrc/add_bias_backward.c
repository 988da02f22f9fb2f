static void add_bias_backward(const add_bias_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        const scalar_t *scale = a->scale;
        int64_t left = row;
        for (int64_t dim = a->scale_dim - 2; dim >= 0; dim--) {
            scale += left % a->scale_size[dim] * a->scale_stride[dim];
            left /= a->scale_size[dim];
        }
        const int64_t column = a->scale_stride[a->scale_dim - 1];
        for (int64_t j = 0; j < a->n; j++) {
            const int64_t i = row * a->n + j;
            const acc_t grad = load(a->grad_y + i);
            if (a->grad_x != NULL) {
                store(a->grad_x + i, grad * load(scale + j * column));
            }
            if (a->grad_bias != NULL) {
                store(a->grad_bias + i, grad);
            }
            if (a->grad_scale != NULL) {
                store(a->grad_scale + i, grad * load(a->x + i));
            }
        }
    }
}
