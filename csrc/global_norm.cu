// The square root of the sum of squares of all elements. Elements are shared evenly among blocks, each of which leaves
// a sum; one block adds these, in an order that is always the same.
#include "global_norm.cuh"

#include "list_runs.cuh"
#include "reduce.cuh"

// Of all threads of a block; every thread gets it.
template <typename A> __device__ __forceinline__ A block_total(A own) {
    __shared__ group_buffer<A> buffers[2];
    return group_sum(own, whole_block(), buffers, 0, 0);
}

template <typename T> __device__ __forceinline__ acc_t<T> vector_squares(const T *from) {
    constexpr int WIDTH = vector_size<T>;
    acc_t<T> values[WIDTH];
    load_elements(from, values);
    acc_t<T> sum = values[0] * values[0];
#pragma unroll
    for (int k = 1; k < WIDTH; k++) {
        sum += values[k] * values[k];
    }
    return sum;
}

template <typename T> __device__ void global_norm_parts(const global_norm_args<T> &a) {
    using A = acc_t<T>;
    constexpr int WIDTH = vector_size<T>;
    constexpr int LOADS = 4; // in flight per thread, each with a sum of its own
    A sums[LOADS] = {};
    over_list_part(a.s, a.xs_count, a.total, [&](int64_t tensor, int64_t first, int64_t last) {
        const T *x = a.xs[tensor] + first;
        const vector_run<WIDTH> run(last - first, [&](int i) { return is_aligned(x + i); });
        const int stride = static_cast<int>(blockDim.x) * WIDTH;
        int i = run.start + int(threadIdx.x) * WIDTH;
#pragma unroll 1
        for (; i + (LOADS - 1) * stride < run.end; i += LOADS * stride) {
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                sums[k] += vector_squares(x + i + k * stride);
            }
        }
#pragma unroll 1
        for (; i < run.end; i += stride) {
            sums[0] += vector_squares(x + i);
        }
#pragma unroll 1
        for (int number = threadIdx.x; number < run.rest(); number += static_cast<int>(blockDim.x)) {
            const A value = to_acc(x[run.rest_element(number)]);
            sums[1] += value * value;
        }
    });
    const A total = block_total((sums[0] + sums[1]) + (sums[2] + sums[3]));
    if (threadIdx.x == 0) {
        a.partial[blockIdx.x] = total;
    }
}

template <typename T> __device__ void global_norm_total(const global_norm_args<T> &a) {
    using A = acc_t<T>;
    A sum = 0;
    for (int64_t i = threadIdx.x; i < a.parts; i += blockDim.x) {
        sum += a.partial[i];
    }
    const A total = block_total(sum);
    if (threadIdx.x == 0) {
        *a.norm = sqrt(total);
    }
}
