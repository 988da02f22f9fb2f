#include "add_into.cuh"

template <typename T> __device__ void add_into(const add_into_args<T> &a) {
    for (int64_t i = threadIdx.x; i < a.n; i += blockDim.x) {
        T *const x = a.x + blockIdx.x * a.n + i;
        *x = *x + a.y[i] * static_cast<T>(a.s);
    }
}
