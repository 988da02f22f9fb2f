/* Sums over a row, of its elements or of squares. They run over blocks of the row, so that their error grows with the
 * number of blocks rather than of elements; four sums side by side hide the latency of an addition. */
#ifndef CSRC_CPU_ROW_SUM_H
#define CSRC_CPU_ROW_SUM_H

#include "vector.h"

/* Lanes that are not among the first `count` become 0. */
static inline vector_t row_clear(vector_t v, int64_t count) {
    acc_t lanes[sizeof(vector_t) / sizeof(acc_t)];
    vector_store_acc(lanes, v);
    return vector_load_acc_part(lanes, count);
}

static inline vector_t row_term(vector_t v, const acc_t *mean, bool squared) {
    const vector_t away = mean ? v - *mean : v;
    return squared ? away * away : away;
}

/* Sum of x, or of its squares; with a mean, of what x is away from it. `squared`, and whether there is a mean, are
 * constants. */
CPU_INLINE acc_t row_sum(const scalar_t *x, const acc_t *mean, bool squared, int64_t n) {
    enum { BLOCK = 64 };
    const int64_t step = 4 * VECTOR_LANES;
    vector_t total = {0};
    int64_t i = 0;
    while (i + step <= n) {
        vector_t s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        for (int k = 0; k < BLOCK && i + step <= n; k++, i += step) {
            const vector_pair_t v = vector_load_pair(x + i);
            const vector_pair_t w = vector_load_pair(x + i + 2 * VECTOR_LANES);
            s0 += row_term(v.a, mean, squared);
            s1 += row_term(v.b, mean, squared);
            s2 += row_term(w.a, mean, squared);
            s3 += row_term(w.b, mean, squared);
        }
        total += (s0 + s1) + (s2 + s3);
    }
    if (i + 2 * VECTOR_LANES <= n) {
        const vector_pair_t v = vector_load_pair(x + i);
        total += row_term(v.a, mean, squared) + row_term(v.b, mean, squared);
        i += 2 * VECTOR_LANES;
    }
    for (; i < n; i += VECTOR_LANES) {
        const int64_t count = vector_count(n - i);
        const vector_t term = row_term(vector_load_part(x + i, count), mean, squared);
        total += mean ? row_clear(term, count) : term;
    }
    return vector_sum(total);
}

#endif
