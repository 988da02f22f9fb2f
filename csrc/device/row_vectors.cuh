// Rows of tensors: where they begin, and vectors of rows that begin and end anywhere.
#pragma once

#include "vector.cuh"

// The vector at `first` of a row of a contiguous tensor, for threads that disregard what lies outside the row: at its
// ends elements of the neighbouring rows come along, which costs nothing. Only at the ends of the tensor's memory, and
// where the vector is not aligned, it is loaded element by element.
template <typename T, bool ALIGNED, bool READ_ONLY = true>
__device__ __forceinline__ uint4 load_row_vector(const T *tensor, int64_t numel, const T *row, int n, int first) {
    constexpr int SIZE = vector_size<T>;
    const T *from = row + first;
    uint4 vector = make_uint4(0, 0, 0, 0);
    if (first >= n || (!ALIGNED && first + SIZE <= 0)) {
        return vector;
    }
    if (ALIGNED || (is_aligned(from) && from >= tensor && from + SIZE <= tensor + numel)) {
        return load_from<READ_ONLY>(reinterpret_cast<const uint4 *>(from));
    }
    if constexpr (!ALIGNED) {
        bits_t<T> elements[SIZE];
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            const bool inside = first + i >= 0 && first + i < n;
            elements[i] = inside ? load_from<READ_ONLY>(reinterpret_cast<const bits_t<T> *>(from) + i) : bits_t<T>(0);
        }
        memcpy(&vector, elements, sizeof vector);
    }
    return vector;
}

// Starts the copy of the vector at `column` of a row into a slot of shared memory, or clears the slot where there is no
// such vector. What comes of neighbouring rows is harmless, beyond the tensor there is nothing to copy.
template <typename T, bool ALIGNED>
__device__ __forceinline__ void fetch(uint4 *slot, const T *vector, int n, int column, bool wanted, const T *tensor,
                                      int64_t numel) {
    wanted = wanted && column < n;
    if (ALIGNED || !wanted || (vector >= tensor && vector + vector_size<T> <= tensor + numel && is_aligned(vector))) {
        copy_async(slot, vector, wanted);
    } else {
        *slot = load_vector<T, false, false>(vector - column, n, column);
    }
}

// 16 of the 32 bytes of two vectors, from byte `begin` on, which is a multiple of GRAIN.
template <int GRAIN> __device__ __forceinline__ uint4 cut_vector(uint4 low, uint4 high, int begin) {
    uint32_t words[8] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
#pragma unroll
    for (int i = 0; i < 6; i++) {
        words[i] = begin & 8 ? words[i + 2] : words[i];
    }
#pragma unroll
    for (int i = 0; i < 5; i++) {
        words[i] = begin & 4 ? words[i + 1] : words[i];
    }
    if constexpr (GRAIN < 4) {
#pragma unroll
        for (int i = 0; i < 4; i++) {
            words[i] = __funnelshift_r(words[i], words[i + 1], begin % 4 * 8);
        }
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// The first `cut` bytes of one vector, 0 to 16, and the others of the next.
__device__ __forceinline__ uint4 joined_vector(uint4 first, uint4 next, int cut) {
    const uint32_t a[4] = {first.x, first.y, first.z, first.w};
    const uint32_t b[4] = {next.x, next.y, next.z, next.w};
    uint32_t words[4];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        const int bits = 8 * (cut - 4 * i);
        const uint32_t mask = bits >= 32 ? 0xffffffffu : bits <= 0 ? 0u : (1u << bits) - 1;
        words[i] = (a[i] & mask) | (b[i] & ~mask);
    }
    return make_uint4(words[0], words[1], words[2], words[3]);
}

// The vector at `first` of n elements whose alignment is not that of the vector: cut out of the two aligned vectors
// that it lies in. At the ends, element by element.
template <typename T> __device__ __forceinline__ uint4 load_misaligned_vector(const T *row, int n, int first) {
    constexpr int SIZE = vector_size<T>;
    const T *from = row + first;
    const int shift = alignment_shift(from);
    if (shift == 0 || first < shift || first - shift + 2 * SIZE > n) {
        return load_vector<T, false>(row, n, first);
    }
    const uint4 *aligned = reinterpret_cast<const uint4 *>(from - shift);
    return cut_vector<int(sizeof(T))>(__ldg(aligned), __ldg(aligned + 1), shift * int(sizeof(T)));
}

struct divmod_result {
    int64_t quotient;
    int64_t remainder;
};
// In 32 bits where they suffice, since 64 take several times as long.
__device__ __forceinline__ divmod_result divmod(int64_t a, int64_t b) {
    if ((a | b) >> 32 == 0) {
        const uint32_t quotient = static_cast<uint32_t>(a) / static_cast<uint32_t>(b);
        return {quotient, static_cast<uint32_t>(a) - quotient * static_cast<uint32_t>(b)};
    }
    return {a / b, a % b};
}

// Where an element of a strided tensor is.
__device__ __forceinline__ int64_t element_offset(int64_t index, int64_t dims, const int64_t *sizes,
                                                  const int64_t *strides) {
    int64_t offset = 0;
    for (int64_t dim = dims - 1; dim >= 0 && index > 0; dim--) {
        const divmod_result by_size = divmod(index, sizes[dim]);
        offset += by_size.remainder * strides[dim];
        index = by_size.quotient;
    }
    return offset;
}

// The first element of a row of it; rows are counted over all dims but the last.
__device__ __forceinline__ int64_t row_offset(int64_t row, int64_t dims, const int64_t *sizes, const int64_t *strides) {
    return element_offset(row, dims - 1, sizes, strides);
}

// How many columns of a row of m x n scores take part: under a causal mask those up to row + (n - m).
__device__ __forceinline__ int64_t causal_limit(bool causal, int64_t row, int64_t m, int64_t n) {
    return causal ? min(n, max(int64_t{0}, divmod(row, m).remainder + 1 + n - m)) : n;
}
