static acc_t sum_of_powers(const weigh_rows_args *a) {
    acc_t sum = 0;
    for (int64_t i = 0; i < a->powers_count; i++) {
        sum += (acc_t)a->powers[i];
    }
    return sum;
}

static void weigh_rows(const weigh_rows_args *a, int64_t begin, int64_t end) {
    const acc_t sum = sum_of_powers(a);
    for (int64_t i = begin * a->n; i < end * a->n; i++) {
        const acc_t weight = a->w == NULL ? 1 : (acc_t)load_W(a->w + i % a->n);
        store(a->y + i, load(a->x + i) * weight * sum);
    }
}
