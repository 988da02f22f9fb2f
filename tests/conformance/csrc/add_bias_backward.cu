#include "add_bias_backward.cuh"

template <typename T> __device__ void add_bias_backward(const add_bias_backward_args<T> &a) {
    const int64_t row = blockIdx.x;
    const T *scale = a.scale;
    int64_t left = row;
    for (int64_t dim = a.scale_dim - 2; dim >= 0; dim--) {
        scale += left % a.scale_size[dim] * a.scale_stride[dim];
        left /= a.scale_size[dim];
    }
    const int64_t column = a.scale_stride[a.scale_dim - 1];
    for (int64_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        const int64_t i = row * a.n + j;
        if (a.grad_x != nullptr) {
            a.grad_x[i] = a.grad_y[i] * scale[j * column];
        }
        if (a.grad_bias != nullptr) {
            a.grad_bias[i] = a.grad_y[i];
        }
        if (a.grad_scale != nullptr) {
            a.grad_scale[i] = a.grad_y[i] * a.x[i];
        }
    }
}
