/* quantize_per_token: csrc/cpu/quantize.h has the formula. Units are rows; a row is read twice, the second time from
 * the caches. */

#include "quantize.h"

static inline acc_t quantize_row_largest(const scalar_t *x, int64_t n) {
    quantize_extent a = {{0}, {0}}, b = {{0}, {0}};
    int64_t i = 0;
    for (; i + 2 * VECTOR_LANES <= n; i += 2 * VECTOR_LANES) {
        const vector_pair_t v = vector_load_pair(x + i);
        quantize_extend(&a, v.a);
        quantize_extend(&b, v.b);
    }
    for (; i < n; i += VECTOR_LANES)
        quantize_extend(&a, vector_load_part(x + i, vector_count(n - i)));
    return quantize_largest(&a, &b);
}

static void quantize_per_token(const quantize_per_token_args *a, int64_t begin, int64_t end) {
    const int64_t n = a->n;
    for (int64_t row = begin; row < end; row++) {
        const scalar_t *x = a->x + row * n;
        const scalar_t *next = row + 1 < end ? x + n : x;
        Q_t *q = a->q + row * n;
        const acc_t largest = quantize_row_largest(x, n);
        const quantize_factors factors = quantize_factors_of(largest);
        a->scale[row] = largest / QUANTIZED_LARGEST;
        int64_t i = 0;
        for (; i + VECTOR_LANES <= n; i += VECTOR_LANES) {
            __builtin_prefetch(next + i, 0, 2);
            quantize_vector(q + i, quantize_scaled(vector_load(x + i), factors), VECTOR_LANES);
        }
        for (; i < n; i += VECTOR_LANES) {
            const int64_t count = vector_count(n - i);
            quantize_vector(q + i, quantize_scaled(vector_load_part(x + i, count), factors), count);
        }
    }
}
