/* rms_norm_quantize: csrc/cpu/row_norm.h and csrc/cpu/quantize.h have the formulas. Units are rows; a row is read three
 * times, twice from the caches, and y is computed twice, never stored. */

#include "quantize.h"
#include "row_norm.h"

/* y of the `count` elements from i on; beyond them 0. */
static inline vector_t quantize_norm(const norm_rows *a, const scalar_t *x, acc_t rstd, int64_t i, int64_t count) {
    const acc_t offset = a->weight ? a->offset : 1;
    if (count == VECTOR_LANES)
        return norm_scaled(vector_load(x + i), 0, rstd,
                           a->weight ? vector_load(a->weight + i) + offset : vector_splat(1));
    const vector_t y =
        norm_scaled(vector_load_part(x + i, count), 0, rstd, norm_load_part(a->weight, i, count) + offset);
    return row_clear(y, count);
}

static inline acc_t quantize_norm_largest(const norm_rows *a, const scalar_t *x, acc_t rstd) {
    const int64_t n = a->n;
    quantize_extent first = {{0}, {0}}, second = {{0}, {0}};
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= n; i += 2 * VECTOR_LANES) {
        quantize_extend(&first, quantize_norm(a, x, rstd, i, VECTOR_LANES));
        quantize_extend(&second, quantize_norm(a, x, rstd, i + VECTOR_LANES, VECTOR_LANES));
    }
    for (; i < n; i += VECTOR_LANES)
        quantize_extend(&first, quantize_norm(a, x, rstd, i, vector_count(n - i)));
    return quantize_largest(&first, &second);
}

static void rms_norm_quantize(const rms_norm_quantize_args *a, int64_t begin, int64_t end) {
    const norm_rows rows = {
        .x = a->x,
        .weight = a->weight,
        .offset = a->offset,
        .eps = a->eps,
        .rows = a->rows,
        .n = a->n,
    };
    const int64_t n = a->n;
    for (int64_t row = begin; row < end; row++) {
        const scalar_t *x = a->x + row * n;
        const scalar_t *next = row + 1 < end ? x + n : x;
        Q_t *q = a->q + row * n;
        const acc_t rstd = norm_rstd(&rows, row_sum(x, NULL, true, n));
        const acc_t largest = quantize_norm_largest(&rows, x, rstd);
        const quantize_factors factors = quantize_factors_of(largest);
        a->scale[row] = largest / QUANTIZED_LARGEST;
        int64_t i = 0;
        for (; i + VECTOR_LANES <= n; i += VECTOR_LANES) {
            __builtin_prefetch(next + i, 0, 2);
            quantize_vector(q + i, quantize_scaled(quantize_norm(&rows, x, rstd, i, VECTOR_LANES), factors),
                            VECTOR_LANES);
        }
        for (; i < n; i += VECTOR_LANES) {
            const int64_t count = vector_count(n - i);
            quantize_vector(q + i, quantize_scaled(quantize_norm(&rows, x, rstd, i, count), factors), count);
        }
    }
}
