/* square_backward: grad_x = grad_y * (2 * x). Units are elements. */

static void square_backward(const square_backward_args *a, int64_t begin, int64_t end) {
    const bool stream = vector_streams(a->grad_x, a->shape);
    const scalar_t *grad_y = a->grad_y + begin;
    const scalar_t *x = a->x + begin;
    scalar_t *grad_x = a->grad_x + begin;
    const int64_t n = end - begin;

    int64_t i = 0;
    for (const int64_t head = stream ? vector_stream_head(grad_x, n) : 0; i < head; i++)
        store(grad_x + i, load(grad_y + i) * (2 * load(x + i)));
    for (; i + 2 * VECTOR_LANES <= n; i += 2 * VECTOR_LANES) {
        const int64_t ahead = i + VECTOR_AHEAD < n ? i + VECTOR_AHEAD : i;
        const vector_pair_t g = vector_load_pair(grad_y + i);
        const vector_pair_t v = vector_load_pair(x + i);
        vector_prefetch_pair(grad_y + ahead);
        vector_prefetch_pair(x + ahead);
        vector_store_pair(grad_x + i, g.a * (2 * v.a), g.b * (2 * v.b), stream);
    }
    for (; i < n; i++)
        store(grad_x + i, load(grad_y + i) * (2 * load(x + i)));
    if (stream)
        vector_stream_end();
}
