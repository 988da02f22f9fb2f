static void masked(const masked_args *a, int64_t begin, int64_t end) {
    const int64_t width = a->n + a->m;
    for (int64_t i = begin; i < end; i++) {
        for (int64_t j = 0; j < width; j++) {
            const acc_t value = load(j < a->n ? a->q + i * a->n + j : a->k + i * a->m + j - a->n);
            const bool wanted = load_M(a->mask + i * a->mask_stride[0] + j * a->mask_stride[1]) != 0;
            store(a->y + i * width + j, wanted ? value : 0);
        }
    }
}
