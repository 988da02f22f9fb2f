/* What is not written here starts, and stays, at its value; z starts at nothing. */
static void filled(const filled_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end && i < a->m; i++) {
        store(a->y + i, load(a->x + i));
        store(a->z + i, a->factor[i] * load(a->x + i));
    }
    for (int64_t i = a->n; begin == 0 && i < a->m; i++) {
        store(a->z + i, 0);
    }
}
