/* softmax_triton: y = exp(x - max(x)) / sum(exp(x - max(x))) over each row. Units are rows. */

static void softmax_triton(const softmax_triton_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        const scalar_t *const x = a->x + row * a->n;
        acc_t largest = load(x);
        for (int64_t i = 1; i < a->n; i++)
            largest = load(x + i) > largest || load(x + i) != load(x + i) ? load(x + i) : largest;
        acc_t sum = 0;
        for (int64_t i = 0; i < a->n; i++)
            sum += acc_exp(load(x + i) - largest);
        for (int64_t i = 0; i < a->n; i++)
            store(a->y + row * a->n + i, acc_exp(load(x + i) - largest) / sum);
    }
}
