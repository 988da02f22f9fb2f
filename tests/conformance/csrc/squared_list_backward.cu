#include "squared_list_backward.cuh"

#include "block_sum.cuh"

template <typename T> __device__ void squared_list_backward_lists(const squared_list_backward_args<T> &a) {
    const int64_t i = blockIdx.x;
    for (int64_t j = threadIdx.x; a.grad_xs[i] != nullptr && j < a.s[i]; j += blockDim.x) {
        const acc_t<T> slope = 2 * to_acc(a.xs[i][j]) * to_acc(a.w[0]);
        a.grad_xs[i][j] = from_acc<T>(slope * to_acc(a.grad_ys[i][j]) + to_acc(a.grad_sums[i]));
    }
}

template <typename T> __device__ void squared_list_backward_w(const squared_list_backward_args<T> &a) {
    acc_t<T> sum = 0;
    for (int64_t i = 0; i < a.xs_count; i++) {
        sum += block_sum<acc_t<T>>(a.s[i], [&](int64_t j) { return a.squares[i][j] * to_acc(a.grad_ys[i][j]); });
    }
    if (threadIdx.x == 0) {
        a.grad_w[0] = from_acc<T>(sum);
    }
}
