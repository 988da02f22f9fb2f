/* Where element `i`, in row-major order, of a tensor stands. */
static int64_t alike_offset(int64_t i, int64_t dim, const int64_t *size, const int64_t *stride) {
    int64_t offset = 0;
    for (int64_t d = dim - 1; d >= 0; d--) {
        offset += i % size[d] * stride[d];
        i /= size[d];
    }
    return offset;
}

static void alike(const alike_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->y + alike_offset(i, a->y_dim, a->y_size, a->y_stride), 2 * load(a->x + i));
        CPU_STORE(float16)(a->z + alike_offset(i, a->z_dim, a->z_size, a->z_stride), load(a->x + i) / 2);
    }
}
