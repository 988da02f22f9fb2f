// y[i] = table[index[i]]: rows are copied as bytes, 16 at a time where both rows are aligned. The values of index are
// data on the device, so a launch cannot check them: an index outside [0, m) gives a row of zeros and reads nothing.
//
// a.threads neighbouring threads copy a row, up to four vectors each; a longer row is cut into a.chunks chunks.
#include "gather_rows.cuh"

#include "row_vectors.cuh"

// Elements [begin, end) of a row, or zeros where there is none.
template <typename V>
__device__ __forceinline__ void copy_row(V *y, const V *row, int64_t begin, int64_t end, int threads) {
#pragma unroll 4
    for (int64_t i = begin; i < end; i += threads) {
        y[i] = row != nullptr ? __ldg(row + i) : V{};
    }
}

template <typename T, typename I> __device__ void gather_rows(const gather_rows_args<T, I> &a) {
    const int threads = static_cast<int>(a.threads);
    const int thread = threadIdx.x % threads;
    const divmod_result block = divmod(blockIdx.x, a.chunks);
    const int64_t chunk = block.remainder;
    const int64_t i = block.quotient * (blockDim.x / threads) + threadIdx.x / threads;
    if (i >= a.k) {
        return;
    }
    const int64_t index = a.index[i];
    const T *row = index >= 0 && index < a.m ? a.table + index * a.n : nullptr;
    T *y = a.y + i * a.n;

    const int64_t bytes = a.n * sizeof(T);
    const int64_t chunk_bytes = int64_t{threads} * 4 * 16;
    const int64_t begin = chunk * chunk_bytes;
    const int64_t end = min(bytes, begin + chunk_bytes);
    if (is_aligned(row) && is_aligned(y) && bytes % 16 == 0) {
        copy_row(reinterpret_cast<uint4 *>(y), reinterpret_cast<const uint4 *>(row), begin / 16 + thread, end / 16,
                 threads);
    } else {
        using bits = bits_t<T>;
        copy_row(reinterpret_cast<bits *>(y), reinterpret_cast<const bits *>(row), int64_t(begin / sizeof(T)) + thread,
                 int64_t(end / sizeof(T)), threads);
    }
}
