/* Gradients of y = xhat * (offset + weight) + bias, xhat = (x - mean) * rstd, with mean 0 unless centered. With
 * g = (offset + weight) * grad_y:
 *     grad_x      = rstd * (g - mean(g) - xhat * mean(g * xhat)), means over the row, the first one only if centered
 *     grad_weight = sum over rows of grad_y * xhat
 *     grad_bias   = sum over rows of grad_y
 * and where there is a grad_total, it is added to grad_x.
 *
 * First pass: units are blocks of rows, `blocks` of them; each sums its rows' share of grad_weight and grad_bias into
 * its own row of `partial`. Second pass: units are blocks of 32 columns; adds those rows. Both sums run in a fixed
 * order.
 *
 * In a row of `partial`, columns up to the last whole pair lie in the order of pairs (vector_pair.h). */
#ifndef CSRC_CPU_ROW_NORM_BACKWARD_H
#define CSRC_CPU_ROW_NORM_BACKWARD_H

#include "row_norm.h"

typedef struct {
    const scalar_t *grad_y;
    const scalar_t *grad_total; /* or NULL */
    const scalar_t *x;
    const scalar_t *weight; /* or NULL for 1 and an offset of 0 */
    const acc_t *mean, *rstd;
    scalar_t *grad_x;   /* or NULL */
    acc_t *weight_sums; /* `blocks` rows of scratch memory, `stride` elements apart, or NULL */
    acc_t *bias_sums;
    acc_t offset;
    int64_t rows, n, blocks, stride;
} norm_gradients;

/* First row of a block; the first blocks have one row more where the rows do not divide. */
static inline int64_t norm_first_row(int64_t rows, int64_t blocks, int64_t block) {
    const int64_t extra = rows % blocks;
    return rows / blocks * block + (block < extra ? block : extra);
}

/* Sums of g * (x - mean) and of g over a row, in blocks as row_sum. */
typedef struct {
    acc_t product, g;
} norm_products;

CPU_INLINE norm_products norm_row_products(const norm_gradients *a, int64_t row, acc_t mean, bool centered) {
    enum { BLOCK = 128 };
    const scalar_t *grad_y = a->grad_y + row * a->n, *x = a->x + row * a->n;
    const acc_t offset = a->weight ? a->offset : 1;
    const int64_t n = a->n;
    const int64_t step = 2 * VECTOR_LANES;
    vector_t product = {0}, total = {0};
    int64_t i = 0;
    while (i + step <= n) {
        vector_t p0 = {0}, p1 = {0}, g0 = {0}, g1 = {0};
        for (int k = 0; k < BLOCK && i + step <= n; k++, i += step) {
            const vector_pair_t w = norm_load_pair(a->weight, i);
            const vector_pair_t d = vector_load_pair(grad_y + i);
            const vector_pair_t v = vector_load_pair(x + i);
            const vector_t ga = (w.a + offset) * d.a;
            const vector_t gb = (w.b + offset) * d.b;
            p0 += ga * (v.a - mean);
            p1 += gb * (v.b - mean);
            if (centered) {
                g0 += ga;
                g1 += gb;
            }
        }
        product += p0 + p1;
        total += g0 + g1;
    }
    for (; i < n; i += VECTOR_LANES) { /* grad_y is 0 in lanes that are not loaded */
        const int64_t count = vector_count(n - i);
        const vector_t g = (norm_load_part(a->weight, i, count) + offset) * vector_load_part(grad_y + i, count);
        product += g * (vector_load_part(x + i, count) - mean);
        total += g;
    }
    return (norm_products){vector_sum(product), centered ? vector_sum(total) : 0};
}

/* grad_x = rstd * g - slope * (x - mean) - share, and the row's part of the sums; all that is NULL is left out. The row
 * that is `ahead` elements further is fetched. */
typedef struct {
    acc_t mean, rstd, slope, share;
} norm_row_terms;

CPU_INLINE void norm_row_gradients(const norm_gradients *a, int64_t row, norm_row_terms t, bool centered, bool added,
                                   acc_t *weight_sums, acc_t *bias_sums, int64_t ahead, bool stream) {
    const int64_t n = a->n;
    const int64_t paired = n - n % (2 * VECTOR_LANES);
    const scalar_t *grad_y = a->grad_y + row * n, *x = a->x + row * n;
    const scalar_t *more = added && a->grad_total ? a->grad_total + row * n : NULL;
    scalar_t *grad_x = a->grad_x ? a->grad_x + row * n : NULL;
    const acc_t offset = a->weight ? a->offset : 1;
    for (int64_t i = 0; i < paired; i += 2 * VECTOR_LANES) {
        const vector_pair_t g = vector_load_pair(grad_y + i);
        const vector_pair_t v = vector_load_pair(x + i);
        const vector_t ga = g.a * t.rstd, gb = g.b * t.rstd;
        const vector_t va = v.a - t.mean, vb = v.b - t.mean;
        vector_prefetch_pair(grad_y + ahead + i);
        vector_prefetch_pair(x + ahead + i);
        if (grad_x) {
            const vector_pair_t w = norm_load_pair(a->weight, i);
            vector_t first = (w.a + offset) * ga - va * t.slope;
            vector_t second = (w.b + offset) * gb - vb * t.slope;
            if (centered) {
                first -= t.share;
                second -= t.share;
            }
            if (added) {
                const vector_pair_t m = norm_load_pair(more, i);
                first += m.a;
                second += m.b;
            }
            vector_store_pair(grad_x + i, first, second, stream);
        }
        if (weight_sums) {
            acc_t *p = weight_sums + i;
            vector_store_acc(p, vector_load_acc(p) + ga * va);
            vector_store_acc(p + VECTOR_LANES, vector_load_acc(p + VECTOR_LANES) + gb * vb);
        }
        if (centered && bias_sums) {
            acc_t *p = bias_sums + i;
            vector_store_acc(p, vector_load_acc(p) + g.a);
            vector_store_acc(p + VECTOR_LANES, vector_load_acc(p + VECTOR_LANES) + g.b);
        }
    }
    for (int64_t i = paired; i < n; i += VECTOR_LANES) {
        const int64_t count = vector_count(n - i);
        const vector_t plain = vector_load_part(grad_y + i, count);
        const vector_t g = plain * t.rstd;
        const vector_t v = vector_load_part(x + i, count) - t.mean;
        if (grad_x) {
            vector_t one = (norm_load_part(a->weight, i, count) + offset) * g - v * t.slope;
            if (centered)
                one -= t.share;
            if (added)
                one += norm_load_part(more, i, count);
            vector_store_part(grad_x + i, one, count);
        }
        if (weight_sums)
            vector_store_acc_part(weight_sums + i, vector_load_acc_part(weight_sums + i, count) + g * v, count);
        if (centered && bias_sums)
            vector_store_acc_part(bias_sums + i, vector_load_acc_part(bias_sums + i, count) + plain, count);
    }
}

/* First pass; `centered` and `added` are constants. */
CPU_INLINE void norm_gradients_of_rows(const norm_gradients *a, bool centered, bool added, int64_t begin, int64_t end) {
    const int64_t n = a->n;
    const bool stream = a->grad_x && vector_streams_rows(a->grad_x, a->rows, n);
    for (int64_t block = begin; block < end; block++) {
        const int64_t last = norm_first_row(a->rows, a->blocks, block + 1);
        acc_t *weight_sums = a->weight_sums ? a->weight_sums + block * a->stride : NULL;
        acc_t *bias_sums = centered && a->bias_sums ? a->bias_sums + block * a->stride : NULL;
        if (weight_sums)
            memset(weight_sums, 0, (size_t)n * sizeof *weight_sums);
        if (bias_sums)
            memset(bias_sums, 0, (size_t)n * sizeof *bias_sums);
        for (int64_t row = norm_first_row(a->rows, a->blocks, block); row < last; row++) {
            const int64_t far = n > VECTOR_AHEAD ? n : VECTOR_AHEAD;
            const int64_t ahead = row * n + far < (last - 1) * n ? far : (last - 1 - row) * n;
            norm_row_terms t = {.mean = centered ? a->mean[row] : 0, .rstd = a->rstd[row]};
            if (a->grad_x) {
                const norm_products sums = norm_row_products(a, row, t.mean, centered);
                const double r = (double)t.rstd; /* in double since rstd^3 alone may overflow */
                t.slope = (acc_t)(r * r * r * ((double)sums.product / (double)n));
                t.share = (acc_t)(r * ((double)sums.g / (double)n));
            }
            norm_row_gradients(a, row, t, centered, added, weight_sums, bias_sums, ahead, stream);
        }
    }
    if (stream)
        vector_stream_end();
}

/* Second pass: columns of `sums`, added up, into what is wanted of a gradient. */
static inline void norm_add_partial_rows(const acc_t *sums, int64_t blocks, int64_t stride, int64_t n, scalar_t *to,
                                         int64_t begin, int64_t end) {
    enum { COLUMNS = 32 }; /* whole pairs, whatever the width */
    const int64_t paired = n - n % (2 * VECTOR_LANES);
    const int64_t last = end * COLUMNS < n ? end * COLUMNS : n;
    int64_t i = begin * COLUMNS;
    for (; i < last && i < paired; i += 2 * VECTOR_LANES) {
        vector_t sa = {0}, sb = {0};
        for (int64_t block = 0; block < blocks; block++) {
            sa += vector_load_acc(sums + block * stride + i);
            sb += vector_load_acc(sums + block * stride + i + VECTOR_LANES);
        }
        vector_store_pair(to + i, sa, sb, false);
    }
    for (; i < last; i += VECTOR_LANES) {
        const int64_t count = vector_count(last - i);
        vector_t sum = {0};
        for (int64_t block = 0; block < blocks; block++)
            sum += vector_load_acc_part(sums + block * stride + i, count);
        vector_store_part(to + i, sum, count);
    }
}

#endif
