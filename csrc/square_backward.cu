// grad_x = 2 * x * grad_y. Blocks take flat tiles of 2 vectors per thread and tensor, all loaded before the first is
// used.
#include "square_backward.cuh"

#include "vector.cuh"

// ALIGNED: all three are made of whole, aligned vectors.
template <typename T, bool ALIGNED>
__device__ __forceinline__ void square_backward_tile(const square_backward_args<T> &a) {
    constexpr int SIZE = vector_size<T>;
    constexpr int VECTORS = 2;
    const int shift = ALIGNED ? 0 : alignment_shift(a.x);
    const int64_t first = (int64_t{blockIdx.x} * VECTORS * blockDim.x + threadIdx.x) * SIZE - shift;
    uint4 x[VECTORS];
    uint4 grad_y[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        x[k] = load_vector<T, ALIGNED>(a.x, a.shape, first + k * blockDim.x * SIZE);
        grad_y[k] = load_vector<T, ALIGNED>(a.grad_y, a.shape, first + k * blockDim.x * SIZE);
    }
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        acc_t<T> values[SIZE], grads[SIZE];
        unpack<T>(x[k], values);
        unpack<T>(grad_y[k], grads);
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            grads[i] *= 2 * values[i];
        }
        store_vector<T, ALIGNED>(a.grad_x, a.shape, first + k * blockDim.x * SIZE, pack<T>(grads));
    }
}

template <typename T> __device__ void square_backward(const square_backward_args<T> &a) {
    if (is_aligned(a.x) && is_aligned(a.grad_y) && is_aligned(a.grad_x) && a.shape % vector_size<T> == 0) {
        square_backward_tile<T, true>(a);
    } else {
        square_backward_tile<T, false>(a);
    }
}
