static void promoted(const promoted_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->y + i, load(a->a + i) + load(a->b + i));
        store_U(a->z + i, 5 * load_U(a->u + i));
    }
}
