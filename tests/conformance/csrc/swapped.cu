#include "swapped.cuh"

template <typename T, bool ALIGNED> __device__ void swapped(const swapped_args<T> &a) {
    const int64_t row = blockIdx.x;
    T *y = a.y + row / a.m * a.m * a.n + row % a.m;
    for (int64_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        y[j * a.m] = -a.x[row * a.n + j];
    }
}
