#include "taken.cuh"

template <typename T, typename I, int BYTES> __device__ void taken(const taken_args<T, I> &a) {
    static_assert(sizeof(T) == BYTES, "an element of the size that the kernel is for");
    const T *const row = a.x + a.index[blockIdx.x] * a.n;
    for (int64_t j = threadIdx.x; j < a.n; j += blockDim.x) {
        a.y[blockIdx.x * a.n + j] = row[j];
        if (j == a.n - 1) {
            a.column[blockIdx.x] = row[j];
        }
    }
}
