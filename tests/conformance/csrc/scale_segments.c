static void scale_segments(const scale_segments_args *a, int64_t begin, int64_t end) {
    int64_t row = 0;
    for (int64_t i = 0; begin < end && i < a->b; i++) {
        const acc_t factor = a->factors[i * a->factors_stride[0]] * a->by;
        for (int64_t stop = row + (int64_t)a->lengths[i]; row < stop; row++) {
            for (int64_t j = 0; j < a->n; j++) {
                store(a->y + row * a->n + j, load(a->x + row * a->n + j) * factor);
            }
        }
    }
}
