#include "filled.cuh"

// What is not written here starts, and stays, at its value; z starts at nothing.
template <typename T, typename M> __device__ void filled(const filled_args<T, M> &a) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < a.n && i < a.m) {
        a.y[i] = a.x[i];
        a.z[i] = static_cast<T>(a.factor[i] * static_cast<acc_t<T>>(a.x[i]));
    }
    for (int64_t j = a.n + i; blockIdx.x == 0 && j < a.m; j += blockDim.x) {
        a.z[j] = static_cast<T>(0.0f);
    }
}
