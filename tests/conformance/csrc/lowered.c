static void lowered(const lowered_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->y + i, 3 * load(a->x + i));
        store_U(a->z + i, 5 * load_U(a->u + i));
    }
}
