/* Every other element is shifted; the others keep what they start at. */
static void shifted_list(const shifted_list_args *a, int64_t begin, int64_t end) {
    const acc_t by = load(a->x), last = load(a->x + 1);
    for (int64_t i = 0; i < a->xs_count && begin < end; i++) {
        for (int64_t k = 0; k < a->s[i]; k += 2) {
            store(a->ys[i] + k, load(a->xs[i] + k) + by);
        }
    }
    store(a->y, -by);
    store(a->y + 1, last + 1);
}
