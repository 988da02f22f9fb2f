/* rms_norm: y = x * rstd * weight with rstd = 1 / sqrt(mean(x^2) + eps), for each row. Units are rows.
 *
 * A row is read twice, the second time from the caches; while it is written, the next row is already being fetched. */

#include <math.h>

/* Sum of squares. Blocks of a row are summed on their own, so that the error grows with the number of blocks rather
 * than of elements; four sums side by side hide the latency of an addition. */
static inline acc_t rms_norm_squares(const scalar_t *x, int64_t n) {
    enum { BLOCK = 64 };
    const int64_t step = 4 * VECTOR_LANES;
    vector_t total = {0};
    int64_t i = 0;
    while (i + step <= n) {
        vector_t s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        for (int k = 0; k < BLOCK && i + step <= n; k++, i += step) {
            const vector_pair_t v = vector_load_pair(x + i);
            const vector_pair_t w = vector_load_pair(x + i + 2 * VECTOR_LANES);
            s0 += v.a * v.a;
            s1 += v.b * v.b;
            s2 += w.a * w.a;
            s3 += w.b * w.b;
        }
        total += (s0 + s1) + (s2 + s3);
    }
    if (i + 2 * VECTOR_LANES <= n) {
        const vector_pair_t v = vector_load_pair(x + i);
        total += v.a * v.a + v.b * v.b;
        i += 2 * VECTOR_LANES;
    }
    for (; i < n; i += VECTOR_LANES) {
        const vector_t v = vector_load_part(x + i, vector_count(n - i));
        total += v * v;
    }
    return vector_sum(total);
}

static inline void rms_norm_row(scalar_t *y, const scalar_t *x, const scalar_t *next, const scalar_t *weight,
                                acc_t rstd, int64_t n, bool stream) {
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= n; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = vector_load_pair(x + i);
        const vector_pair_t w = vector_load_pair(weight + i);
        vector_prefetch_pair(next + i);
        vector_store_pair(y + i, v.a * rstd * w.a, v.b * rstd * w.b, stream);
    }
    for (; i < n; i += VECTOR_LANES) {
        const int64_t count = vector_count(n - i);
        const vector_t v = vector_load_part(x + i, count) * rstd;
        vector_store_part(y + i, v * vector_load_part(weight + i, count), count);
    }
}

static void rms_norm(const rms_norm_args *a, int64_t begin, int64_t end) {
    enum { GROUP = 8, SHORT = 2048 }; /* several short rows at a time, so that their square roots overlap */
    const int64_t n = a->n;
    const int64_t group = n <= SHORT / (int64_t)sizeof(scalar_t) ? GROUP : 1;
    const int64_t ahead = n * group > VECTOR_AHEAD ? n * group : VECTOR_AHEAD;
    const bool stream = vector_streams_rows(a->y, a->rows, n);
    for (int64_t row = begin; row < end; row += group) {
        const int64_t count = end - row < group ? end - row : group;
        acc_t rstd[GROUP];
        for (int64_t r = 0; r < count; r++)
            rstd[r] = rms_norm_squares(a->x + (row + r) * n, n);
        for (int64_t r = 0; r < count; r++) {
            rstd[r] = (acc_t)(1 / sqrt((double)rstd[r] / (double)n + (double)a->eps));
            if (a->rstd)
                a->rstd[row + r] = rstd[r];
        }
        for (int64_t r = 0; r < count; r++) {
            const int64_t at = (row + r) * n;
            const int64_t next = at + ahead < (end - 1) * n ? at + ahead : (end - 1) * n;
            rms_norm_row(a->y + at, a->x + at, a->x + next, a->weight, rstd[r], n, stream);
        }
    }
    if (stream)
        vector_stream_end();
}
