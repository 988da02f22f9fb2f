static void error(const error_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin * a->n * a->tensor; i < end * a->n * a->tensor; i++) {
        const int64_t row = i / (a->n * a->tensor), column = i % a->n;
        const acc_t kept = load_plans(a->bytes + column) != 0 ? load(a->f + row * a->n + column) : 0;
        store(a->shape + i, kept + (acc_t)load_e(a->overflow + row));
    }
}
