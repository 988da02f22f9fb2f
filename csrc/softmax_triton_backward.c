/* softmax_triton_backward: grad_x = y * (grad_y - sum(grad_y * y)) over each row. Units are rows. */

static void softmax_triton_backward(const softmax_triton_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        const int64_t start = row * a->n;
        acc_t mean = 0;
        for (int64_t i = start; i < start + a->n; i++)
            mean += load(a->grad_y + i) * load(a->y + i);
        for (int64_t i = start; i < start + a->n; i++)
            store(a->grad_x + i, load(a->y + i) * (load(a->grad_y + i) - mean));
    }
}
