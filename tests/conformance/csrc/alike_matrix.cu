#include "alike_matrix.cuh"

template <typename T> __device__ void alike_matrix(const alike_matrix_args<T> &a) {
    const int64_t i = blockIdx.x;
    for (int64_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        const T value = a.x[i * a.x_stride[0] + j * a.x_stride[1]];
        a.y[i * a.y_stride[0] + j * a.y_stride[1]] = 3 * value;
    }
}
