#include "lists_alike.cuh"

#include "row_vectors.cuh"

template <typename T, bool ALIGNED> __device__ void lists_alike(const lists_alike_args<T> &a) {
    for (int64_t i = 0; i < a.xs_count; i++) {
        const int64_t m = a.m[i], n = a.n[i];
        for (int64_t j = threadIdx.x; j < a.s[i] * m * n; j += blockDim.x) {
            const acc_t<T> x = to_acc(a.xs[i][element_offset(j, a.xs_dim[i], a.xs_size[i], a.xs_stride[i])]);
            a.ys[i][element_offset(j, a.ys_dim[i], a.ys_size[i], a.ys_stride[i])] = from_acc<T>(3 * x);
        }
        for (int64_t j = threadIdx.x; j < m * n; j += blockDim.x) {
            acc_t<T> sum = 0;
            for (int64_t l = j; l < a.s[i] * m * n; l += m * n) {
                sum += to_acc(a.xs[i][element_offset(l, a.xs_dim[i], a.xs_size[i], a.xs_stride[i])]);
            }
            for (int64_t l = 0; l < a.k; l++) {
                a.zs[i][j * a.k + l] = from_acc<T>(sum); // rows of k elements, as they lie in memory
            }
        }
    }
}
