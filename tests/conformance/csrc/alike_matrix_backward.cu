#include "alike_matrix_backward.cuh"

template <typename T> __device__ void alike_matrix_backward(const alike_matrix_backward_args<T> &a) {
    const int64_t i = blockIdx.x;
    for (int64_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        const T value = a.grad_y[i * a.grad_y_stride[0] + j * a.grad_y_stride[1]];
        a.grad_x[i * a.grad_x_stride[0] + j * a.grad_x_stride[1]] = 3 * value;
    }
}
