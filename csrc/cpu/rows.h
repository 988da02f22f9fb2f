/* Rows of tensors whose strides are free, and of score matrices under a causal mask. */
#ifndef CSRC_CPU_ROWS_H
#define CSRC_CPU_ROWS_H

#include <stdbool.h>
#include <stdint.h>

/* Where an element is. */
static inline int64_t element_offset(int64_t index, int64_t dims, const int64_t *sizes, const int64_t *strides) {
    int64_t offset = 0;
    for (int64_t dim = dims - 1; dim >= 0; dim--) {
        offset += index % sizes[dim] * strides[dim];
        index /= sizes[dim];
    }
    return offset;
}

/* The first element of a row; rows are counted over all dims but the last. */
static inline int64_t row_offset(int64_t row, int64_t dims, const int64_t *sizes, const int64_t *strides) {
    return element_offset(row, dims - 1, sizes, strides);
}

/* How many columns of a row of m x n scores take part: under a causal mask those up to row + (n - m). */
static inline int64_t causal_limit(bool causal, int64_t row, int64_t m, int64_t n) {
    const int64_t limit = causal ? row % m + 1 + n - m : n;
    return limit < 0 ? 0 : limit < n ? limit : n;
}

#endif
