#include "double_some.cuh"

template <typename T> __device__ void double_some(const double_some_args<T> &a) {
    const int64_t i = blockIdx.x;
    for (int64_t j = threadIdx.x; j < a.s[i]; j += blockDim.x) {
        a.xs[i][j] = from_acc<T>(2 * to_acc(a.xs[i][j]));
        if (a.ys != nullptr) {
            a.ys[i][j] = from_acc<T>(to_acc(a.by[0]) * to_acc(a.ys[i][j]));
        }
    }
}
