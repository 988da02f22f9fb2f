#include "only_contiguous.cuh"

template <typename T> __device__ void only_contiguous(const only_contiguous_args<T> &a) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * a.n;
    for (int64_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        a.y[row + j] = static_cast<T>(static_cast<acc_t<T>>(a.x[row + j]) * static_cast<acc_t<T>>(a.w[j]));
    }
}
