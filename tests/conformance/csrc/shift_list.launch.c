static bool shift_list_launch(const cuda_context *ctx, const shift_list_call *c) {
    int64_t largest = 0;
    for (int64_t i = 0; i < c->xs_count; i++) {
        largest = c->s[i] * c->n > largest ? c->s[i] * c->n : largest;
    }
    cuda_launch shape = cuda_shape((largest + 127) / 128, 128);
    shape.grid[1] = c->xs_count;
    return launch_shift_list(ctx, c, shape);
}
