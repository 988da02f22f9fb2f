#include "biased_lists_second.cuh"

#include "block_sum.cuh"
#include "row_vectors.cuh"

template <typename T> __device__ void biased_lists_second(const biased_lists_second_args<T> &a) {
    for (int64_t i = 0; i < a.xs_count; i++) {
        for (int64_t j = threadIdx.x; j < a.s[i] * a.n[i]; j += blockDim.x) {
            const acc_t<T> to_x = to_acc(a.grad_grad_xs[i][j]), grad = to_acc(a.grad_ys[i][j]);
            acc_t<T> scale = 1, to_scale = 0, to_bias = 0;
            if (a.scales != nullptr) {
                scale = to_acc(a.scales[i][element_offset(j, a.scales_dim[i], a.scales_size[i], a.scales_stride[i])]);
            }
            if (a.grad_grad_scales != nullptr) {
                to_scale = to_acc(a.grad_grad_scales[i][j]);
            }
            if (a.grad_grad_biases[i] != nullptr) {
                to_bias = to_acc(a.grad_grad_biases[i][j]);
            }
            if (a.grad_grad_ys[i] != nullptr) {
                a.grad_grad_ys[i][j] = from_acc<T>(to_x * scale + to_bias + to_scale * to_acc(a.xs[i][j]));
            }
            if (a.grad_xs[i] != nullptr) {
                a.grad_xs[i][j] = from_acc<T>(to_scale * grad);
            }
            if (i < a.grad_scales_count && a.grad_scales[i] != nullptr) {
                a.grad_scales[i][j] = from_acc<T>(to_x * grad);
            }
        }
    }
    for (int64_t i = 0; i < a.grad_grad_terms_count && a.grad_grad_sums != nullptr; i++) {
        const acc_t<T> sum = block_sum<acc_t<T>>(
            2 * a.k, [&](int64_t j) { return to_acc(a.grad_grad_terms[i][j]) * to_acc(a.by[j % a.k]); });
        if (threadIdx.x == 0) {
            a.grad_grad_sums[i] = from_acc<T>(sum);
        }
    }
}
