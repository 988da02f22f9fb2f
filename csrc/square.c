/* square: y = x * x. Units are elements. */

static void square(const square_args *a, int64_t begin, int64_t end) {
    const bool stream = vector_streams(a->y, a->shape);
    const scalar_t *x = a->x + begin;
    scalar_t *y = a->y + begin;
    const int64_t n = end - begin;

    int64_t i = 0;
    for (const int64_t head = stream ? vector_stream_head(y, n) : 0; i < head; i++) {
        const acc_t v = load(x + i);
        store(y + i, v * v);
    }
    for (; i + 2 * VECTOR_LANES <= n; i += 2 * VECTOR_LANES) {
        const int64_t ahead = i + VECTOR_AHEAD < n ? i + VECTOR_AHEAD : i;
        const vector_pair_t v = vector_load_pair(x + i);
        vector_prefetch_pair(x + ahead);
        vector_store_pair(y + i, v.a * v.a, v.b * v.b, stream);
    }
    for (; i < n; i++) {
        const acc_t v = load(x + i);
        store(y + i, v * v);
    }
    if (stream)
        vector_stream_end();
}
