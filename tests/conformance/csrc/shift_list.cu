#include "shift_list.cuh"

template <typename T> __device__ void shift_list(const shift_list_args<T> &a) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < a.s[blockIdx.y] * a.n) {
        a.xs[blockIdx.y][i] += a.by[i % a.n];
    }
}
