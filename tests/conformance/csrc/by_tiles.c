static void by_tiles(const by_tiles_args *a, int64_t begin, int64_t end) {
    const int64_t tile = a->m * a->n;
    for (int64_t i = begin; i < end; i++) {
        const scalar_t *x = a->x;
        int64_t left = i;
        for (int64_t dim = a->x_dim - 3; dim >= 0; dim--) {
            x += left % a->x_size[dim] * a->x_stride[dim];
            left /= a->x_size[dim];
        }
        for (int64_t j = 0; j < tile; j++) {
            store(a->y + i * tile + j, 2 * load(x + j));
        }
    }
}
