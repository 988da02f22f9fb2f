/* rms_norm_backward: with m = mean(weight * grad_y * x) over a row,
 *     grad_x = rstd * (weight * grad_y - x * rstd^2 * m)
 *     grad_weight = sum over rows of grad_y * x * rstd
 *
 * First pass: units are blocks of rows, a->partial_size[0] of them; each sums its rows' share of grad_weight into its
 * own row of a->partial. Second pass: units are blocks of 32 columns; adds those rows. Both sums run in a fixed order.
 *
 * In a row of a->partial, columns up to the last whole pair lie in the order of pairs (vector.h). */

#include <math.h>

/* First row of a block; the first blocks have one row more where the rows do not divide. */
static inline int64_t rms_norm_backward_first(int64_t rows, int64_t blocks, int64_t block) {
    const int64_t extra = rows % blocks;
    return rows / blocks * block + (block < extra ? block : extra);
}

/* Sum of weight * grad_y * x over a row, in blocks as in rms_norm. */
static inline acc_t rms_norm_backward_dot(const scalar_t *weight, const scalar_t *grad_y, const scalar_t *x,
                                          int64_t n) {
    enum { BLOCK = 128 };
    const int64_t step = 2 * VECTOR_LANES;
    vector_t total = {0};
    int64_t i = 0;
    while (i + step <= n) {
        vector_t s0 = {0}, s1 = {0};
        for (int k = 0; k < BLOCK && i + step <= n; k++, i += step) {
            const vector_pair_t w = vector_load_pair(weight + i);
            const vector_pair_t g = vector_load_pair(grad_y + i);
            const vector_pair_t v = vector_load_pair(x + i);
            s0 += w.a * g.a * v.a;
            s1 += w.b * g.b * v.b;
        }
        total += s0 + s1;
    }
    for (; i < n; i += VECTOR_LANES) {
        const int64_t count = vector_count(n - i);
        total +=
            vector_load_part(weight + i, count) * vector_load_part(grad_y + i, count) * vector_load_part(x + i, count);
    }
    return vector_sum(total);
}

static void rms_norm_backward_rows(const rms_norm_backward_args *a, int64_t begin, int64_t end) {
    const int64_t n = a->n;
    const int64_t blocks = a->partial_size[0];
    const int64_t paired = n - n % (2 * VECTOR_LANES);
    const bool stream = a->grad_x && vector_streams_rows(a->grad_x, a->rows, n);
    const scalar_t *weight = a->weight;
    for (int64_t block = begin; block < end; block++) {
        const int64_t last = rms_norm_backward_first(a->rows, blocks, block + 1);
        acc_t *partial = a->partial ? a->partial + block * a->partial_size[1] : NULL;
        if (partial)
            memset(partial, 0, (size_t)n * sizeof *partial);

        for (int64_t row = rms_norm_backward_first(a->rows, blocks, block); row < last; row++) {
            const scalar_t *grad_y = a->grad_y + row * n;
            const scalar_t *x = a->x + row * n;
            scalar_t *grad_x = a->grad_x ? a->grad_x + row * n : NULL;
            const int64_t far = n > VECTOR_AHEAD ? n : VECTOR_AHEAD;
            const int64_t ahead = row * n + far < (last - 1) * n ? far : (last - 1 - row) * n;
            const acc_t rstd = a->rstd[row];
            acc_t c = 0; /* rstd^3 * m, in double since rstd^3 alone may overflow */
            if (grad_x) {
                const double r = (double)rstd;
                c = (acc_t)(r * r * r * ((double)rms_norm_backward_dot(weight, grad_y, x, n) / (double)n));
            }

            for (int64_t i = 0; i < paired; i += 2 * VECTOR_LANES) {
                const vector_pair_t g = vector_load_pair(grad_y + i);
                const vector_pair_t v = vector_load_pair(x + i);
                const vector_t ga = g.a * rstd;
                const vector_t gb = g.b * rstd;
                vector_prefetch_pair(grad_y + ahead + i);
                vector_prefetch_pair(x + ahead + i);
                if (grad_x) {
                    const vector_pair_t w = vector_load_pair(weight + i);
                    vector_store_pair(grad_x + i, w.a * ga - v.a * c, w.b * gb - v.b * c, stream);
                }
                if (partial) {
                    acc_t *p = partial + i;
                    vector_store_acc(p, vector_load_acc(p) + ga * v.a);
                    vector_store_acc(p + VECTOR_LANES, vector_load_acc(p + VECTOR_LANES) + gb * v.b);
                }
            }
            for (int64_t i = paired; i < n; i += VECTOR_LANES) {
                const int64_t count = vector_count(n - i);
                const vector_t g = vector_load_part(grad_y + i, count) * rstd;
                const vector_t v = vector_load_part(x + i, count);
                if (grad_x)
                    vector_store_part(grad_x + i, vector_load_part(weight + i, count) * g - v * c, count);
                if (partial)
                    vector_store_acc_part(partial + i, vector_load_acc_part(partial + i, count) + g * v, count);
            }
        }
    }
    if (stream)
        vector_stream_end();
}

static void rms_norm_backward_columns(const rms_norm_backward_args *a, int64_t begin, int64_t end) {
    enum { COLUMNS = 32 }; /* whole pairs, whatever the width */
    const int64_t n = a->n;
    const int64_t blocks = a->partial_size[0];
    const int64_t stride = a->partial_size[1];
    const int64_t paired = n - n % (2 * VECTOR_LANES);
    const int64_t last = end * COLUMNS < n ? end * COLUMNS : n;
    int64_t i = begin * COLUMNS;
    for (; i < last && i < paired; i += 2 * VECTOR_LANES) {
        vector_t sa = {0}, sb = {0};
        for (int64_t block = 0; block < blocks; block++) {
            sa += vector_load_acc(a->partial + block * stride + i);
            sb += vector_load_acc(a->partial + block * stride + i + VECTOR_LANES);
        }
        vector_store_pair(a->grad_weight + i, sa, sb, false);
    }
    for (; i < last; i += VECTOR_LANES) {
        const int64_t count = vector_count(last - i);
        vector_t sum = {0};
        for (int64_t block = 0; block < blocks; block++)
            sum += vector_load_acc_part(a->partial + block * stride + i, count);
        vector_store_part(a->grad_weight + i, sum, count);
    }
}
