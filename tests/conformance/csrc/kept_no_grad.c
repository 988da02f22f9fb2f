static void first_pass(const kept_no_grad_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->y + i, 7 * load(a->x + i));
    }
}

static void second_pass(const kept_no_grad_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->y + i, 8 * load(a->x + i));
    }
}
