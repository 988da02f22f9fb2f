/* softmax_backward: with p = sum(grad_y * y) / sum(y) over a row, columns behind the causal limit left out,
 *     grad_bias = y * (grad_y - p)    grad_x = scale * grad_bias
 * The sum of y is 1 but for rounding, and 2 - sum(y) stands for its inverse: without it the gradients of a row would
 * not add up to 0. Units are rows. A row is read twice, the second time from the caches; while it is written, the next
 * row is fetched. */

#include "rows.h"

static inline acc_t softmax_backward_mean(const scalar_t *y, const scalar_t *grad_y, int64_t limit) {
    vector_t a = {0}, b = {0}, sum_a = {0}, sum_b = {0};
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= limit; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = vector_load_pair(y + i);
        const vector_pair_t g = vector_load_pair(grad_y + i);
        a += v.a * g.a;
        b += v.b * g.b;
        sum_a += v.a;
        sum_b += v.b;
    }
    for (; i < limit; i += VECTOR_LANES) {
        const int64_t count = vector_count(limit - i);
        const vector_t v = vector_load_part(y + i, count);
        a += v * vector_load_part(grad_y + i, count);
        sum_a += v;
    }
    return vector_sum(a + b) * (2 - vector_sum(sum_a + sum_b));
}

static inline void softmax_backward_x(scalar_t *grad_x, const scalar_t *y, const scalar_t *grad_y, int64_t limit,
                                      acc_t mean, acc_t scale, int64_t ahead, bool stream) {
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= limit; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = vector_load_pair(y + i);
        const vector_pair_t g = vector_load_pair(grad_y + i);
        vector_prefetch_pair(y + ahead + i);
        vector_prefetch_pair(grad_y + ahead + i);
        vector_store_pair(grad_x + i, v.a * (g.a - mean) * scale, v.b * (g.b - mean) * scale, stream);
    }
    for (; i < limit; i += VECTOR_LANES) {
        const int64_t count = vector_count(limit - i);
        const vector_t v = vector_load_part(y + i, count) * (vector_load_part(grad_y + i, count) - mean);
        vector_store_part(grad_x + i, v * scale, count);
    }
}

/* In acc_t, since what was broadcast gets the sum of many of them. */
static inline void softmax_backward_bias(acc_t *grad_bias, const scalar_t *y, const scalar_t *grad_y, int64_t limit,
                                         acc_t mean) {
    for (int64_t i = 0; i < limit; i += VECTOR_LANES) {
        const int64_t count = vector_count(limit - i);
        const vector_t v = vector_load_part(y + i, count) * (vector_load_part(grad_y + i, count) - mean);
        vector_store_acc_part(grad_bias + i, v, count);
    }
}

static void softmax_backward(const softmax_backward_args *a, int64_t begin, int64_t end) {
    enum { GROUP = 8, SHORT = 512 }; /* several short rows at a time, so that what each waits for overlaps */
    const int64_t n = a->n;
    const int64_t group = n <= SHORT ? GROUP : 1;
    const bool stream = a->grad_x && vector_streams_rows(a->grad_x, a->rows, n);
    for (int64_t row = begin; row < end; row += group) {
        const int64_t count = end - row < group ? end - row : group;
        acc_t mean[GROUP];
        int64_t limit[GROUP];
        for (int64_t r = 0; r < count; r++) {
            limit[r] = causal_limit(a->causal, row + r, a->m, n);
            mean[r] = softmax_backward_mean(a->y + (row + r) * n, a->grad_y + (row + r) * n, limit[r]);
        }
        for (int64_t r = 0; r < count; r++) {
            const scalar_t *y = a->y + (row + r) * n;
            const scalar_t *grad_y = a->grad_y + (row + r) * n;
            const size_t rest = (size_t)(n - limit[r]);
            if (a->grad_bias) {
                acc_t *grad_bias = a->grad_bias + (row + r) * n;
                softmax_backward_bias(grad_bias, y, grad_y, limit[r], mean[r]);
                memset(grad_bias + limit[r], 0, rest * sizeof *grad_bias);
            }
            if (a->grad_x) {
                scalar_t *grad_x = a->grad_x + (row + r) * n;
                const int64_t ahead = row + r + group < end ? group * n : 0;
                softmax_backward_x(grad_x, y, grad_y, limit[r], mean[r], a->scale, ahead, stream);
                memset(grad_x + limit[r], 0, rest * sizeof *grad_x);
            }
        }
    }
    if (stream)
        vector_stream_end();
}
