/* Sums of w * x over each tensor x, and all elements of the others. */
static void list_dot(const list_dot_args *a, int64_t begin, int64_t end) {
    (void)begin;
    (void)end;
    for (int64_t i = 0; i < a->xs_count; i++) {
        acc_t sum = 0;
        for (int64_t j = 0; j < a->s[i] * a->m[i] * a->n; j++) {
            sum += load(a->xs[i] + j) * load(a->w + (j % a->n) * a->w_stride[0]);
        }
        for (int64_t j = 0; j < a->m[i] * a->s[i]; j++) {
            sum += a->ys[i][j];
        }
        for (int64_t j = 0; j < a->m[i] + 1; j++) {
            sum += (acc_t)load_I(a->zs[i] + j) * (acc_t)a->mode;
        }
        a->y[i] = sum;
    }
    for (int64_t i = 0; i < a->others_count; i++) {
        for (int64_t j = 0; j < 3 * a->k[i]; j++) {
            a->y[0] += a->others[i][j];
        }
    }
}
