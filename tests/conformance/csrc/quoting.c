static void quoting(const quoting_args *a, int64_t begin, int64_t end) {
    if (begin < end) {
        store(a->y, load(a->x));
    }
}
