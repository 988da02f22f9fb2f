static void in_float32(const in_float32_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const acc_t w = a->w != NULL ? load(a->w + i) : 1;
        store(a->y + i, load(a->x + i) * w + (acc_t)a->shift[i]);
    }
}
