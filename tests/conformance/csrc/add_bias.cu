#include "add_bias.cuh"

template <typename T> __device__ void add_bias(const add_bias_args<T> &a) {
    const int64_t row = blockIdx.x;
    const T *bias = a.bias;
    int64_t left = row;
    for (int64_t dim = a.bias_dim - 2; dim >= 0; dim--) {
        bias += left % a.bias_size[dim] * a.bias_stride[dim];
        left /= a.bias_size[dim];
    }
    const int64_t column = a.bias != nullptr ? a.bias_stride[a.bias_dim - 1] : 0;
    for (int64_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        const T x = a.x[row * a.n + j] * a.scale[row * a.scale_stride[0] + j];
        a.y[row * a.n + j] = a.bias != nullptr ? x + bias[j * column] : x;
    }
}
