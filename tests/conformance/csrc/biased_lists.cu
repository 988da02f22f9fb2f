#include "biased_lists.cuh"

#include "block_sum.cuh"
#include "row_vectors.cuh"

template <typename T> __device__ void biased_lists(const biased_lists_args<T> &a) {
    for (int64_t i = 0; i < a.xs_count; i++) {
        const int64_t n = a.n[i];
        for (int64_t j = threadIdx.x; j < a.s[i] * n; j += blockDim.x) {
            acc_t<T> y = to_acc(a.xs[i][j]);
            if (a.scales != nullptr) {
                y *= to_acc(a.scales[i][j / n * a.scales_stride[i][0] + j % n]);
            }
            if (a.biases[i] != nullptr) {
                y += to_acc(a.biases[i][element_offset(j, a.biases_dim[i], a.biases_size[i], a.biases_stride[i])]);
            }
            a.ys[i][j] = from_acc<T>(y);
        }
    }
    for (int64_t i = 0; i < a.terms_count; i++) {
        const acc_t<T> sum = block_sum<acc_t<T>>(2 * a.k, [&](int64_t j) {
            const int64_t *const stride = a.terms_stride[i];
            return to_acc(a.by[j % a.k]) * to_acc(a.terms[i][j / a.k * stride[0] + j % a.k * stride[1]]);
        });
        if (threadIdx.x == 0) {
            a.sums[i] = from_acc<T>(sum);
        }
    }
}
