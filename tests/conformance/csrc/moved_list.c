static acc_t moved(scalar_t *x, int64_t count, acc_t by) {
    acc_t sum = 0;
    for (int64_t j = 0; j < count; j++) {
        store(x + j, load(x + j) + by);
        sum += load(x + j);
    }
    return sum;
}

static void moved_list(const moved_list_args *a, int64_t begin, int64_t end) {
    const acc_t by = load(a->by);
    for (int64_t i = 0; begin < end && i < a->xs_count; i++) {
        store(a->sums + i, moved(a->xs[i], a->s[i], by));
    }
    for (int64_t i = 0; begin < end && i < a->more_count; i++) {
        moved(a->more[i], a->t[i], 2 * by);
    }
    if (begin < end) {
        moved(a->x, a->n, 3 * by);
        store(a->first, by);
    }
}
