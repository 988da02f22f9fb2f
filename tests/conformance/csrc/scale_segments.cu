#include "scale_segments.cuh"

// Rows [begin, begin + count): a block for each of them, or for all; VEC elements at a time.
template <typename T, typename I, int VEC, bool ROWS>
__device__ void scale_segment(const scale_segments_args<T, I> &a) {
    const int64_t first = ROWS ? (a.begin + blockIdx.x) * a.n : a.begin * a.n;
    const int64_t end = ROWS ? first + a.n : (a.begin + a.count) * a.n;
    for (int64_t i = first + threadIdx.x * VEC; i < end; i += int64_t{blockDim.x} * VEC) {
        for (int64_t j = i; j < i + VEC && j < end; j++) {
            a.y[j] = from_acc<T>(to_acc(a.x[j]) * a.by);
        }
    }
}

template <typename T, typename I> __device__ void scale_nothing(const scale_segments_args<T, I> &) {}
