static void picked(const picked_args *a, int64_t begin, int64_t end) {
    (void)begin;
    (void)end;
    for (int64_t i = 0; i < a->k; i++) {
        a->y[i] = a->x[a->boxes[4 * i]] * load(a->weight + i) + (float)(a->kind[i] + a->limited[i]);
    }
}
