#include "list_parts.cuh"

template <typename T> __device__ void list_parts(const list_parts_args<T> &a) {
    const int64_t i = blockIdx.x;
    if (threadIdx.x == 0 && a.s[i] * a.n[i] * a.m[i] > 0 && a.s[i] * (a.m[i] - 1) * a.k > 0) {
        a.parts[i][0] = a.xs[i][0];
    }
}
