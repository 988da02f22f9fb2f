static void list_parts(const list_parts_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        if (a->s[i] * a->n[i] * a->m[i] > 0 && a->s[i] * (a->m[i] - 1) * a->k > 0) {
            store(a->parts[i], load(a->xs[i]));
        }
    }
}
