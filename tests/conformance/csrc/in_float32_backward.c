static void in_float32_backward(const in_float32_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const acc_t w = a->w != NULL ? load(a->w + i) : 1;
        if (a->grad_x != NULL) {
            store(a->grad_x + i, load(a->grad_y + i) * w);
        }
        if (a->grad_w != NULL) {
            store(a->grad_w + i, load(a->grad_y + i) * load(a->x + i));
        }
    }
}
