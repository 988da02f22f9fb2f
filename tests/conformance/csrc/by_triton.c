static void by_triton(const by_triton_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        acc_t sum = 0;
        for (int64_t j = 0; j < a->n; j++) {
            acc_t value = load(a->x + row * a->step + j * a->column) * a->eps + (acc_t)(a->k + a->i[row]);
            value *= a->w ? load(a->w + j) : 1;
            value *= a->mode == by_triton_mode_twice ? 1 : (acc_t)0.5;
            value = a->below && j > row ? 0 : value;
            store(a->y + row * a->n + j, value);
            sum += value;
        }
        a->sums[row] = sum;
        a->partial[row] = 0.5;
    }
}
