// Short rows that are not made of aligned vectors: a block copies a run of rows to shared memory and back in vectors,
// as if it were one long row, and its threads work on elements there. 2^k lanes share a row, ELEMENTS columns each.
#pragma once

#include "row_vectors.cuh"

constexpr int STAGE_THREADS = 256;

template <typename T> constexpr int stage_elements = sizeof(T) <= 4 ? 16 : 8; // of a row, per lane
template <typename T> constexpr int stage_vectors = STAGE_THREADS * stage_elements<T> / vector_size<T>;

// Where a run of rows lies in shared memory: as misaligned as in the tensor that it came from.
template <typename T> struct stage {
    uint4 vectors[stage_vectors<T> + 1];

    __device__ __forceinline__ T *at(const T *source) {
        return reinterpret_cast<T *>(vectors) + alignment_shift(source);
    }
};

// Copies `count` elements to the stage; the block synchronises before it reads them.
template <typename T, bool READ_ONLY = true>
__device__ __forceinline__ void stage_in(stage<T> &to, const T *source, int count) {
    constexpr int LOADS = stage_vectors<T> / STAGE_THREADS;
    const int first = static_cast<int>(threadIdx.x) * vector_size<T> - alignment_shift(source);
    constexpr int stride = STAGE_THREADS * vector_size<T>;
    uint4 vectors[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        vectors[k] = load_row_vector<T, false, READ_ONLY>(source, count, source, count, first + k * stride);
    }
#pragma unroll
    for (int k = 0; k < LOADS; k++) {
        to.vectors[threadIdx.x + k * STAGE_THREADS] = vectors[k];
    }
    if (threadIdx.x == 0) { // the shift may make one vector more
        to.vectors[stage_vectors<T>] =
            load_row_vector<T, false, READ_ONLY>(source, count, source, count, first + LOADS * stride);
    }
}

// Copies what the block has left on the stage, behind a barrier, to a run of rows. `source` is what it was copied from.
template <typename T> __device__ __forceinline__ void stage_out(stage<T> &from, const T *source, T *target, int count) {
    __syncthreads();
    if (alignment_shift(source) == alignment_shift(target)) {
        const int first = -alignment_shift(target);
        for (int i = threadIdx.x; i <= stage_vectors<T>; i += STAGE_THREADS) {
            store_vector<T, false>(target, count, first + i * vector_size<T>, from.vectors[i]);
        }
    } else {
        const T *elements = from.at(source);
        for (int i = threadIdx.x; i < count; i += STAGE_THREADS) {
            target[i] = elements[i];
        }
    }
}
