#include "by_heads.cuh"

template <typename T> __device__ void by_heads(const by_heads_args<T> &a) {
    const int64_t row = blockIdx.x;
    const int64_t i = row / (a.h * a.s), j = row / a.s % a.h, k = row % a.s;
    const T *q = a.q + i * a.q_stride[0] + j * a.q_stride[1] + k * a.q_stride[2];
    for (int64_t l = threadIdx.x; l < a.d; l += blockDim.x) {
        a.y[row * a.d + l] = static_cast<T>(static_cast<acc_t<T>>(q[l]) * static_cast<acc_t<T>>(a.scale[j]));
    }
}
