static void noisy_backward(const noisy_backward_args *a, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i++) {
        store(a->grad_x + i, load(a->grad_y + i) * (acc_t)(((a->seed[0] ^ a->seed[1]) % 1024 + i) % 3));
    }
}
