#include "squared_list.cuh"

#include "block_sum.cuh"

template <typename T> __device__ void squared_list(const squared_list_args<T> &a) {
    const int64_t i = blockIdx.x;
    for (int64_t j = threadIdx.x; j < a.s[i]; j += blockDim.x) {
        const acc_t<T> x = to_acc(a.xs[i][j]);
        a.ys[i][j] = from_acc<T>(x * x * to_acc(a.w[0]));
        if (a.squares != nullptr) {
            a.squares[i][j] = x * x;
        }
    }
    const acc_t<T> sum = block_sum<acc_t<T>>(a.s[i], [&](int64_t j) { return to_acc(a.xs[i][j]); });
    if (threadIdx.x == 0) {
        a.sums[i] = from_acc<T>(sum);
    }
}
