// y = x * x. Blocks take flat tiles of 4 vectors per thread, all loaded before the first is used.
#include "square.cuh"

#include "vector.cuh"

// ALIGNED: x and y are made of whole, aligned vectors.
template <typename T, bool ALIGNED> __device__ __forceinline__ void square_tile(const square_args<T> &a) {
    constexpr int SIZE = vector_size<T>;
    constexpr int VECTORS = 4;
    const int shift = ALIGNED ? 0 : alignment_shift(a.x);
    const int64_t first = (int64_t{blockIdx.x} * VECTORS * blockDim.x + threadIdx.x) * SIZE - shift;
    uint4 x[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        x[k] = load_vector<T, ALIGNED>(a.x, a.shape, first + k * blockDim.x * SIZE);
    }
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        acc_t<T> values[SIZE];
        unpack<T>(x[k], values);
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            values[i] *= values[i];
        }
        store_vector<T, ALIGNED>(a.y, a.shape, first + k * blockDim.x * SIZE, pack<T>(values));
    }
}

template <typename T> __device__ void square(const square_args<T> &a) {
    if (is_aligned(a.x) && is_aligned(a.y) && a.shape % vector_size<T> == 0) {
        square_tile<T, true>(a);
    } else {
        square_tile<T, false>(a);
    }
}
