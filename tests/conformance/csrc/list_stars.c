/* Outputs keep what they start at, but for the first elements of one. */
static void list_stars(const list_stars_args *a, int64_t begin, int64_t end) {
    for (int64_t i = 0; i < a->xs_count && begin < end; i++) {
        if (a->n[i] > 0 && a->s[i] > 0 && a->t > 0) {
            store(a->ys[i], load(a->xs[i]) + load(a->by));
        }
    }
}
