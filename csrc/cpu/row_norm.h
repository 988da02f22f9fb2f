/* Rows that are normalised, with mean 0 unless centered:
 *     y = (x - mean) * rstd * (offset + weight) + bias with rstd = 1 / sqrt(mean((x - mean)^2) + eps)
 * and where there is a residual, x is the sum of both, rounded as it is stored. Units are rows.
 *
 * A row is read once for each sum and once more, from the caches, for y; while it is written, the next row is already
 * being fetched. */
#ifndef CSRC_CPU_ROW_NORM_H
#define CSRC_CPU_ROW_NORM_H

#include <math.h>

#include "row_sum.h"

typedef struct {
    const scalar_t *x;
    const scalar_t *residual; /* or NULL */
    const scalar_t *weight;   /* or NULL for 1 and an offset of 0 */
    const scalar_t *bias;     /* or NULL for 0 */
    scalar_t *y;
    scalar_t *total; /* x + residual */
    acc_t *mean;     /* or NULL, as rstd */
    acc_t *rstd;
    acc_t offset, eps;
    int64_t rows, n;
} norm_rows;

/* The columns of a weight that may not be there. */
static inline vector_pair_t norm_load_pair(const scalar_t *p, int64_t i) {
    return p ? vector_load_pair(p + i) : (vector_pair_t){{0}, {0}};
}
static inline vector_t norm_load_part(const scalar_t *p, int64_t i, int64_t count) {
    return p ? vector_load_part(p + i, count) : (vector_t){0};
}

/* 1 / sqrt(mean + eps) of a sum of squares. */
static inline acc_t norm_rstd(const norm_rows *a, acc_t squares) {
    return (acc_t)(1 / sqrt((double)squares / (double)a->n + (double)a->eps));
}

/* What is stored, but for a bias. */
static inline vector_t norm_scaled(vector_t v, acc_t mean, acc_t rstd, vector_t weight) {
    return (v - mean) * rstd * weight;
}

/* total = x + residual. The rows that are `ahead` elements further are fetched. */
static inline void norm_add(const norm_rows *a, int64_t at, int64_t ahead) {
    const scalar_t *x = a->x + at, *residual = a->residual + at;
    scalar_t *total = a->total + at;
    const int64_t n = a->n;
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= n; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = vector_load_pair(x + i);
        const vector_pair_t r = vector_load_pair(residual + i);
        vector_prefetch_pair(x + ahead + i);
        vector_prefetch_pair(residual + ahead + i);
        vector_store_pair(total + i, v.a + r.a, v.b + r.b, false);
    }
    for (; i < n; i += VECTOR_LANES) {
        const int64_t count = vector_count(n - i);
        vector_store_part(total + i, vector_load_part(x + i, count) + vector_load_part(residual + i, count), count);
    }
}

CPU_INLINE void norm_store(const norm_rows *a, const scalar_t *x, scalar_t *y, acc_t mean, acc_t rstd, bool centered,
                           int64_t ahead, bool stream) {
    const int64_t n = a->n;
    const acc_t offset = a->weight ? a->offset : 1;
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= n; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = vector_load_pair(x + i);
        const vector_pair_t w = norm_load_pair(a->weight, i);
        vector_t first = norm_scaled(v.a, mean, rstd, w.a + offset);
        vector_t second = norm_scaled(v.b, mean, rstd, w.b + offset);
        if (centered) {
            const vector_pair_t b = norm_load_pair(a->bias, i);
            first += b.a;
            second += b.b;
        }
        if (ahead)
            vector_prefetch_pair(x + ahead + i);
        vector_store_pair(y + i, first, second, stream);
    }
    for (; i < n; i += VECTOR_LANES) {
        const int64_t count = vector_count(n - i);
        vector_t v =
            norm_scaled(vector_load_part(x + i, count), mean, rstd, norm_load_part(a->weight, i, count) + offset);
        if (centered)
            v += norm_load_part(a->bias, i, count);
        vector_store_part(y + i, v, count);
    }
}

/* `centered` and `added` are constants. */
CPU_INLINE void norm_of_rows(const norm_rows *a, bool centered, bool added, int64_t begin, int64_t end) {
    enum { GROUP = 8, SHORT = 2048 }; /* several short rows at a time, so that their square roots overlap */
    const int64_t n = a->n;
    const int64_t group = n <= SHORT / (int64_t)sizeof(scalar_t) ? GROUP : 1;
    const int64_t far = n * group > VECTOR_AHEAD ? n * group : VECTOR_AHEAD;
    const bool stream = vector_streams_rows(a->y, a->rows, n);
    const scalar_t *x = added ? a->total : a->x;
    for (int64_t row = begin; row < end; row += group) {
        const int64_t count = end - row < group ? end - row : group;
        acc_t mean[GROUP] = {0}, rstd[GROUP] = {0};
        int64_t ahead[GROUP];
        for (int64_t r = 0; r < count; r++) {
            const int64_t at = (row + r) * n;
            ahead[r] = at + far < (end - 1) * n ? far : (end - 1) * n - at;
            if (added)
                norm_add(a, at, ahead[r]);
            if (centered)
                mean[r] = row_sum(x + at, NULL, false, n) / (acc_t)n;
            rstd[r] = row_sum(x + at, centered ? &mean[r] : NULL, true, n);
        }
        for (int r = 0; r < GROUP; r++) /* of rows that are not there too: a fixed number is done in vectors */
            rstd[r] = norm_rstd(a, rstd[r]);
        if (a->rstd)
            memcpy(a->rstd + row, rstd, (size_t)count * sizeof *rstd);
        if (centered && a->mean)
            memcpy(a->mean + row, mean, (size_t)count * sizeof *mean);
        for (int64_t r = 0; r < count; r++) {
            const int64_t at = (row + r) * n;
            norm_store(a, x + at, a->y + at, centered ? mean[r] : 0, rstd[r], centered, added ? 0 : ahead[r], stream);
        }
    }
    if (stream)
        vector_stream_end();
}

#endif
