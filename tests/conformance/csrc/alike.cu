#include "alike.cuh"

// Where element `i`, in row-major order, of a tensor stands.
__device__ inline int64_t alike_offset(int64_t i, int64_t dim, const int64_t *size, const int64_t *stride) {
    int64_t offset = 0;
    for (int64_t d = dim - 1; d >= 0; d--) {
        offset += i % size[d] * stride[d];
        i /= size[d];
    }
    return offset;
}

template <typename T> __device__ void alike(const alike_args<T> &a) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < a.s) {
        a.y[alike_offset(i, a.y_dim, a.y_size, a.y_stride)] = 2 * a.x[i];
        a.z[alike_offset(i, a.z_dim, a.z_size, a.z_stride)] = static_cast<__half>(a.x[i] / 2);
    }
}
