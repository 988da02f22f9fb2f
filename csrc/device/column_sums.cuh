// Sums of columns, in two passes: blocks leave partial sums in rows of scratch memory, and a second launch adds those
// rows up. Every order is fixed: equal inputs give equal bits.
#pragma once

#include "reduce.cuh"
#include "row_vectors.cuh"

// The sums of SIZE neighbouring columns per lane, over all lanes of a warp with the same columns.
template <int LANES, typename A, int SIZE, int COLUMNS>
__device__ __forceinline__ void store_column_sums(A (&sums)[SIZE], A (*warp_sums)[COLUMNS]) {
#pragma unroll
    for (int j = 0; j < SIZE; j++) {
#pragma unroll
        for (int offset = LANES; offset < 32; offset *= 2) {
            sums[j] += __shfl_xor_sync(0xffffffffu, sums[j], offset);
        }
        if (threadIdx.x % 32 < LANES) {
            warp_sums[threadIdx.x / 32][threadIdx.x % 32 * SIZE + j] = sums[j];
        }
    }
}

// Second pass, in blocks of 256 threads for 32 columns each: the lanes of a warp take several rows of `partial` at
// once, 128 bytes each, the warps take turns. Rows are `stride` elements apart, which is a multiple of 4.
template <typename T>
__device__ __forceinline__ void add_partial_rows(const acc_t<T> *partial, int64_t rows, int64_t stride, int64_t n,
                                                 T *target) {
    constexpr int COLUMNS = 32;
    constexpr int WARPS = 8;
    constexpr int LOADS = 5; // in flight per thread
    using acc = acc_t<T>;
    constexpr int SIZE = vector_size<acc>;
    constexpr int LANES = COLUMNS / SIZE;
    constexpr int STEP = WARPS * 32 / LANES; // rows that the block loads at once
    __shared__ acc warp_sums[WARPS][COLUMNS];
    const int lane = threadIdx.x % LANES;
    const int64_t first = int64_t{blockIdx.x} * COLUMNS + lane * SIZE;
    acc sums[SIZE] = {};
    const int count = static_cast<int>(rows);
    for (int row = threadIdx.x / LANES; row < count; row += LOADS * STEP) {
        uint4 vectors[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            vectors[i] = make_uint4(0, 0, 0, 0);
            if (row + i * STEP < count && first < n) {
                vectors[i] = *reinterpret_cast<const uint4 *>(partial + (row + i * STEP) * stride + first);
            }
        }
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            acc values[SIZE];
            unpack<acc>(vectors[i], values);
#pragma unroll
            for (int j = 0; j < SIZE; j++) {
                sums[j] += values[j];
            }
        }
    }
    store_column_sums<LANES>(sums, warp_sums);
    __syncthreads();
    const int64_t column = int64_t{blockIdx.x} * COLUMNS + threadIdx.x;
    if (threadIdx.x < COLUMNS && column < n) {
        acc sum = 0;
#pragma unroll
        for (int i = 0; i < WARPS; i++) {
            sum += warp_sums[i][threadIdx.x];
        }
        target[column] = from_acc<T>(sum);
    }
}
