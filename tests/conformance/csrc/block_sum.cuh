// The sum of one function's values, by all threads of a block of at most 1024: large tensors in bearable time.
#pragma once

#include <stdint.h>

// element(j) for 0 <= j < count, which all threads call with the same arguments; every thread gets the sum.
template <typename A, typename F> __device__ A block_sum(int64_t count, const F &element) {
    __shared__ A parts[32];
    A sum = 0;
    for (int64_t j = threadIdx.x; j < count; j += blockDim.x) {
        sum += element(j);
    }
    for (int offset = 16; offset > 0; offset /= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    __syncthreads(); // those of the sum before have been read
    if (threadIdx.x % 32 == 0) {
        parts[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    sum = 0;
    for (int64_t i = 0; i < blockDim.x / 32; i++) {
        sum += parts[i];
    }
    return sum;
}
