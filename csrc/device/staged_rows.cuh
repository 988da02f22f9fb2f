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

// The rows that a block has on its stage, and the columns that a thread works on there: lane, lane + lanes and so on of
// one row.
struct staged_part {
    int n, lanes, lane;
    int64_t row;   // of the thread; there may be none with this number
    int64_t start; // the first element of the block's rows
    int count;     // and how many elements they have
    int offset;    // of the thread's row in them

    template <typename Args>
    __device__ __forceinline__ explicit staged_part(const Args &a)
        : n(static_cast<int>(a.n)), lanes(static_cast<int>(a.stage_lanes)), lane(threadIdx.x % lanes) {
        const int groups = STAGE_THREADS / lanes;
        const int group = threadIdx.x / lanes;
        const int64_t first_row = int64_t{blockIdx.x} * groups;
        row = first_row + group;
        start = first_row * n;
        count = static_cast<int>(min(int64_t{groups}, a.rows - first_row)) * n;
        offset = group * n;
    }

    __device__ __forceinline__ int column(int k) const { return lane + k * lanes; }

    // Whether any thread of the block has a column number k.
    __device__ __forceinline__ bool reaches(int k) const { return k * lanes < n; }
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
