static void widened(const widened_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        W_acc_t y = a->w != NULL ? load_W(a->w + i) : 0;
        y += a->v != NULL ? a->v[i] : 0;
        store_W(a->y + i, y);
    }
}
