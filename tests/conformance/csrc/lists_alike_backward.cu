#include "lists_alike_backward.cuh"

#include "row_vectors.cuh"

template <typename T> __device__ void lists_alike_backward(const lists_alike_backward_args<T> &a) {
    for (int64_t i = 0; i < a.xs_count; i++) {
        for (int64_t j = threadIdx.x; j < a.s[i] * a.m[i] * a.n[i] && a.grad_xs[i] != nullptr; j += blockDim.x) {
            const int64_t from = element_offset(j, a.grad_ys_dim[i], a.grad_ys_size[i], a.grad_ys_stride[i]);
            const int64_t to = element_offset(j, a.grad_xs_dim[i], a.grad_xs_size[i], a.grad_xs_stride[i]);
            acc_t<T> sum = 3 * to_acc(a.grad_ys[i][from]);
            const int64_t row = j / a.n[i] % a.m[i], column = j % a.n[i], *const z = a.grad_zs_stride[i];
            for (int64_t l = 0; l < a.k[i]; l++) {
                sum += to_acc(a.grad_zs[i][row * z[0] + l * z[1] + column * z[2]]);
            }
            a.grad_xs[i][to] = from_acc<T>(sum);
        }
    }
}
