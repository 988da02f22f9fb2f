#include "list_norm.cuh"

#include "block_sum.cuh"

template <typename T> __device__ void list_norm(const list_norm_args<T> &a) {
    T all = 0;
    for (int64_t i = 0; i < a.xs_count; i++) {
        const T sum = block_sum<T>(a.s[i], [&](int64_t j) { return a.xs[i][j] * a.xs[i][j]; });
        if (threadIdx.x == 0) {
            a.norms[i] = sum;
        }
        all += sum;
    }
    for (int64_t i = threadIdx.x; i < a.k; i += blockDim.x) {
        a.y[i] = all;
    }
}
