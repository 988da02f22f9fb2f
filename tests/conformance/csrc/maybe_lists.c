static acc_t sum_of(const scalar_t *data, int64_t count) {
    acc_t sum = 0;
    for (int64_t j = 0; j < count; j++) {
        sum += load(data + j);
    }
    return sum;
}

static void maybe_lists(const maybe_lists_args *a, int64_t begin, int64_t end) {
    for (int64_t i = 0; i < a->xs_count && begin < end; i++) {
        acc_t sum = sum_of(a->xs[i], a->s[i] * a->n[i]);
        for (int64_t j = 0; a->ys[i] != NULL && j < a->s[i]; j++) {
            sum += a->ys[i][j];
        }
        a->y[i] = sum;
    }
    for (int64_t i = 0; i < (a->zs != NULL ? a->zs_count : 1) && begin < end; i++) {
        W_acc_t sum = (W_acc_t)a->ws_count;
        for (int64_t j = 0; a->zs != NULL && j < a->m[i]; j++) {
            sum += load_W(a->zs[i] + j);
        }
        for (int64_t j = 0; a->ws != NULL && a->ws[i] != NULL && j < 2 * a->m[i]; j++) {
            sum += load_W(a->ws[i] + j);
        }
        for (int64_t j = 0; i < a->counts_count && a->counts[i] != NULL && j < a->m[i]; j++) {
            sum += (W_acc_t)load_I(a->counts[i] + j);
        }
        for (int64_t j = 0; a->scale != NULL && j < a->k; j++) {
            sum += a->scale[j];
        }
        store_W(a->z + i, sum);
    }
}
