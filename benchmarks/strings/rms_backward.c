static void rms_backward(const rms_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; row++) {
        const scalar_t *x = a->x + row * a->n, *grad = a->grad_y + row * a->n;
        const acc_t rstd = a->rstd[row];
        acc_t dot = 0;
        for (int64_t i = 0; i < a->n; i++) {
            dot += load(x + i) * load(grad + i);
        }
        dot *= rstd * rstd / (acc_t)a->n;
        for (int64_t i = 0; i < a->n; i++) {
            store(a->grad_x + row * a->n + i, rstd * (load(grad + i) - load(x + i) * dot));
        }
    }
}
