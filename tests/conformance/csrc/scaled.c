static void scaled(const scaled_args *a, int64_t begin, int64_t end) {
    const acc_t s = (a->s_given ? a->s : 1) * (acc_t)(a->k_given ? a->k : 1) * (a->flip_given && a->flip ? -1 : 1);
    const int64_t wide = a->n + (a->pad_given ? a->pad : 0);
    for (int64_t row = begin; row < end; row++) {
        for (int64_t i = 0; i < wide; i++) {
            store(a->y + row * wide + i, i < a->n ? s * load(a->x + row * a->n + i) : 0);
        }
    }
}
