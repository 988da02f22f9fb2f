// Rows of tensors: where they begin, and vectors of rows that begin and end anywhere.
#pragma once

#include "vector.cuh"

// The vector at `first` of a row of a contiguous tensor, for threads that disregard what lies outside the row: at its
// ends elements of the neighbouring rows come along, which costs nothing. Only at the ends of the tensor's memory, and
// where the vector is not aligned, it is loaded element by element.
template <typename T, bool ALIGNED>
__device__ __forceinline__ uint4 load_row_vector(const T *tensor, int64_t numel, const T *row, int n, int first) {
    const T *vector = row + first;
    if (first >= n || (!ALIGNED && first + vector_size<T> <= 0)) {
        return make_uint4(0, 0, 0, 0);
    }
    if (ALIGNED || (is_aligned(vector) && vector >= tensor && vector + vector_size<T> <= tensor + numel)) {
        return __ldg(reinterpret_cast<const uint4 *>(vector));
    }
    return load_vector<T, false>(row, n, first);
}

// Quotient and remainder; in 32 bits where they suffice, since 64 take several times as long.
struct quotient {
    int64_t whole;
    int64_t rest;
};
__device__ __forceinline__ quotient divided(int64_t a, int64_t b) {
    if ((a | b) >> 32 == 0) {
        const uint32_t whole = static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
        return {whole, static_cast<uint32_t>(a) - whole * static_cast<uint32_t>(b)};
    }
    return {a / b, a % b};
}

// The first element of a row of a strided tensor; rows are counted over all dims but the last.
__device__ __forceinline__ int64_t row_offset(int64_t row, int64_t dims, const int64_t *sizes, const int64_t *strides) {
    int64_t offset = 0;
    for (int64_t dim = dims - 2; dim >= 0 && row > 0; dim--) {
        const quotient by_size = divided(row, sizes[dim]);
        offset += by_size.rest * strides[dim];
        row = by_size.whole;
    }
    return offset;
}

// How many columns of a row of m x n scores take part: under a causal mask those up to row + (n - m).
__device__ __forceinline__ int64_t causal_limit(bool causal, int64_t row, int64_t m, int64_t n) {
    return causal ? min(n, max(int64_t{0}, divided(row, m).rest + 1 + n - m)) : n;
}
