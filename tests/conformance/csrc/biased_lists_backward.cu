#include "biased_lists_backward.cuh"

#include "row_vectors.cuh"

template <typename T> __device__ void biased_lists_backward(const biased_lists_backward_args<T> &a) {
    for (int64_t i = 0; i < a.xs_count; i++) {
        for (int64_t j = threadIdx.x; j < a.s[i] * a.n[i]; j += blockDim.x) {
            const acc_t<T> grad = to_acc(a.grad_ys[i][j]);
            acc_t<T> scale = 1;
            if (a.scales != nullptr) {
                scale = to_acc(a.scales[i][element_offset(j, a.scales_dim[i], a.scales_size[i], a.scales_stride[i])]);
            }
            if (a.grad_xs[i] != nullptr) {
                a.grad_xs[i][j] = from_acc<T>(grad * scale);
            }
            if (a.grad_biases[i] != nullptr) {
                a.grad_biases[i][j] = from_acc<T>(grad);
            }
            if (i < a.grad_scales_count && a.grad_scales[i] != nullptr) {
                a.grad_scales[i][j] = from_acc<T>(grad * to_acc(a.xs[i][j]));
            }
        }
    }
    for (int64_t i = 0; i < a.terms_count; i++) {
        for (int64_t j = threadIdx.x; j < 2 * a.k && a.grad_terms[i] != nullptr; j += blockDim.x) {
            a.grad_terms[i][j] = from_acc<T>(to_acc(a.grad_sums[i]) * to_acc(a.by[j % a.k]));
        }
    }
}
