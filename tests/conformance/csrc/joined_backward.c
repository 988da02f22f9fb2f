static void joined_backward(const joined_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        const acc_t grad_y = load(a->grad_y + i);
        if (a->grad_x)
            store(a->grad_x + i, grad_y * load(a->w + i));
        if (a->grad_w)
            store(a->grad_w + i, grad_y * (load(a->x + i) + load(a->r + i)));
    }
}
