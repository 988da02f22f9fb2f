#include "lists_as_they_lie.cuh"

#include "block_sum.cuh"
#include "row_vectors.cuh"

template <typename T, bool ALIGNED> __device__ void lists_as_they_lie(const lists_as_they_lie_args<T> &a) {
    for (int64_t i = 0; i < a.xs_count; i++) {
        const acc_t<T> sum = block_sum<acc_t<T>>(a.s[i], [&](int64_t j) {
            return to_acc(a.xs[i][element_offset(j, a.xs_dim[i], a.xs_size[i], a.xs_stride[i])]);
        });
        if (threadIdx.x == 0) {
            a.y[i] = sum;
        }
    }
    for (int64_t i = 0; i < a.ys_count; i++) {
        const acc_t<T> sum = block_sum<acc_t<T>>(
            a.m[i] * a.n[i], [&](int64_t j) { return to_acc(a.ys[i][j / a.n[i] * a.ys_stride[i][0] + j % a.n[i]]); });
        if (threadIdx.x == 0) {
            a.y[a.xs_count + i] = sum;
        }
    }
    for (int64_t i = 0; i < a.zs_count; i++) {
        for (int64_t j = threadIdx.x; j < a.t[i] * a.k[i]; j += blockDim.x) {
            const int64_t row = j / a.k[i], column = j % a.k[i];
            const acc_t<T> z = to_acc(a.zs[i][row * a.zs_stride[i][0] + column]);
            T &w = a.ws[i][row * a.ws_stride[i][0] + column];
            T &v = a.vs[i][element_offset(j, a.vs_dim[i], a.vs_size[i], a.vs_stride[i])];
            w = from_acc<T>(to_acc(w) + z);
            v = from_acc<T>(to_acc(v) - z);
        }
    }
}
