static void copy_out(const copy_out_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->out + i, load(a->x + i));
    }
}
