static void by_strides(const by_strides_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < a->n; j++) {
            const acc_t x = load(a->x + i * a->x_stride[0] + j * a->x_stride[1]);
            store(a->y + i * a->n + j, x * load(a->w + j * a->w_stride[0]) + load(a->s));
        }
    }
}
