#include "by_any_strides.cuh"

// Where element `i`, in row-major order, of a tensor stands.
__device__ inline int64_t by_any_strides_offset(int64_t i, int64_t dim, const int64_t *size, const int64_t *stride) {
    int64_t offset = 0;
    for (int64_t d = dim - 1; d >= 0; d--) {
        offset += i % size[d] * stride[d];
        i /= size[d];
    }
    return offset;
}

template <typename T> __device__ void by_any_strides(const by_any_strides_args<T> &a) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= a.s) {
        return;
    }
    T sum = 0;
    for (int64_t j = 0; j < 2 * a.t; j++) {
        sum += a.w[by_any_strides_offset(j, a.w_dim, a.w_size, a.w_stride)];
    }
    a.y[i] = a.x[by_any_strides_offset(i, a.x_dim, a.x_size, a.x_stride)] +
             a.z[by_any_strides_offset(i, a.z_dim, a.z_size, a.z_stride)] + sum;
}
