static acc_t listed_sum(const listed_args *a) {
    acc_t sum = (acc_t)(a->pair[0] + 10 * a->pair[1] + a->none_count);
    for (int64_t i = 0; i < a->xs_count; i++) {
        sum += (acc_t)a->xs[i];
    }
    for (int64_t i = 0; i < a->fs_count; i++) {
        sum += (acc_t)a->fs[i];
    }
    for (int64_t i = 0; i < a->flags_count; i++) {
        sum += a->flags[i] ? 100 : 1000;
    }
    for (int64_t i = 0; i < a->maybe_count; i++) {
        sum += (acc_t)a->maybe[i];
    }
    return sum + (a->flags_given ? 1 : 0) + (a->maybe_given ? 2 : 0) + (a->steps_given ? (acc_t)a->steps[1] : 0);
}

static void listed(const listed_args *a, int64_t begin, int64_t end) {
    const int64_t wide = a->n + a->xs_count;
    const acc_t sum = listed_sum(a);
    int64_t inner = 1;
    for (int64_t i = 0; i < a->sizes_count; i++) {
        inner *= a->sizes[i];
    }
    for (int64_t i = begin; i < end; i++) {
        store(a->z + i, sum);
        for (int64_t j = 0; j < wide; j++) {
            store(a->y + i * wide + j, j < a->n ? load(a->x + j * inner + i) : (acc_t)a->xs[j - a->n]);
        }
    }
}
