/* Where element `i`, in row-major order, of a tensor stands. */
static int64_t by_any_strides_offset(int64_t i, int64_t dim, const int64_t *size, const int64_t *stride) {
    int64_t offset = 0;
    for (int64_t d = dim - 1; d >= 0; d--) {
        offset += i % size[d] * stride[d];
        i /= size[d];
    }
    return offset;
}

static void by_any_strides(const by_any_strides_args *a, int64_t begin, int64_t end) {
    int64_t elements = 1;
    for (int64_t d = 0; d < a->w_dim; d++) {
        elements *= a->w_size[d];
    }
    acc_t sum = 0;
    for (int64_t i = 0; i < elements; i++) {
        sum += load(a->w + by_any_strides_offset(i, a->w_dim, a->w_size, a->w_stride));
    }
    for (int64_t i = begin; i < end; i++) {
        const acc_t x = load(a->x + by_any_strides_offset(i, a->x_dim, a->x_size, a->x_stride));
        const acc_t z = load(a->z + by_any_strides_offset(i, a->z_dim, a->z_size, a->z_stride));
        store(a->y + i, x + z + sum);
    }
}
