#include "scale_list.cuh"

template <typename T> __device__ void scale_list(const scale_list_args<T> &a) {
    const int64_t i = blockIdx.x;
    for (int64_t j = threadIdx.x; j < a.s[i]; j += blockDim.x) {
        a.xs[i][j] = a.xs[i][j] * a.factors[i][j] * (a.by[0] + a.by[1]);
    }
}
