static void by_heads(const by_heads_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        const int64_t i = row / (a->h * a->s), j = row / a->s % a->h, k = row % a->s;
        const scalar_t *const q = a->q + i * a->q_stride[0] + j * a->q_stride[1] + k * a->q_stride[2];
        for (int64_t l = 0; l < a->d; l++) {
            store(a->y + row * a->d + l, load(q + l) * load(a->scale + j));
        }
    }
}
