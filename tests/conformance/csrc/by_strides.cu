#include "by_strides.cuh"

template <typename T> __device__ void by_strides(const by_strides_args<T> &a) {
    const int64_t i = blockIdx.x;
    for (int64_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        const T x = a.x[i * a.x_stride[0] + j * a.x_stride[1]];
        a.y[i * a.n + j] = x * a.w[j * a.w_stride[0]] + a.s[0];
    }
}
