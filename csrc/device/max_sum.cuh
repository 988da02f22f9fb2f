// Sums of exponentials that do not overflow: of values v, the largest one and the sum of 2^(rate * (v - largest)), kept
// together and combined in any grouping: https://arxiv.org/abs/1805.02867. The order is fixed, as in reduce.cuh, and
// each thread that takes part gets the same bits.
//
// Values of -infinity add nothing, and where there are no others the sum is 0. A NaN makes the sum a NaN.
#pragma once

#include <math.h>

#include "dtype.cuh"
#include "row_part.cuh"

template <typename A> constexpr A LOG2_E = A(1.44269504088896340736);

// 2^x. For float one instruction, two units in the last place off; results below 2^-126 are 0.
__device__ __forceinline__ float power_of_two(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ double power_of_two(double x) { return exp2(x); }

template <typename A> __device__ __forceinline__ A minus_infinity() { return static_cast<A>(-INFINITY); }

template <typename A> struct alignas(2 * sizeof(A)) max_sum {
    A max;
    A sum;

    // What is subtracted from values: not -infinity, from which nothing can be subtracted.
    __device__ __forceinline__ A base() const { return max == minus_infinity<A>() ? A(0) : max; }

    // The factor that makes the sum one of 2^(rate * (v - base)).
    __device__ __forceinline__ A rebased(A base, A rate) const { return power_of_two((max - base) * rate); }
};

template <typename A> __device__ __forceinline__ max_sum<A> empty_max_sum() { return {minus_infinity<A>(), A(0)}; }

template <typename A> __device__ __forceinline__ max_sum<A> combined(const max_sum<A> &a, const max_sum<A> &b, A rate) {
    max_sum<A> both = {max(a.max, b.max), A(0)};
    both.sum = a.sum * a.rebased(both.base(), rate) + b.sum * b.rebased(both.base(), rate);
    return both;
}

// Of the values of one thread, which become their exponentials.
template <typename A, int VECTORS, int SIZE>
__device__ __forceinline__ max_sum<A> exponentials(A (&values)[VECTORS][SIZE], A rate) {
    max_sum<A> found = empty_max_sum<A>();
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            found.max = max(found.max, values[k][i]);
        }
    }
    const A base = found.base();
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        A sum = 0; // a chain of additions for each vector
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            values[k][i] = power_of_two((values[k][i] - base) * rate);
            sum += values[k][i];
        }
        found.sum += sum;
    }
    return found;
}

// Over `lanes` neighbouring lanes, a power of two. All lanes of the warp call it.
template <typename A> __device__ __forceinline__ max_sum<A> lane_max_sum(max_sum<A> own, A rate, int lanes) {
    A largest = own.max;
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        if (offset < lanes) {
            largest = max(largest, __shfl_xor_sync(0xffffffffu, largest, offset));
        }
    }
    max_sum<A> all = {largest, A(0)};
    all.sum = lane_sum(own.sum * own.rebased(all.base(), rate), lanes);
    return all;
}

// Over a group of warps; see cluster_sum.
template <typename A>
__device__ __forceinline__ max_sum<A> cluster_max_sum(max_sum<A> own, A rate, const warp_group &group,
                                                      group_buffer<max_sum<A>> (&buffers)[2], int first_warp,
                                                      int round) {
    own = lane_max_sum(own, rate, 32);
    const int count = group.blocks * group.warps;
    if (count > 1) {
        const max_sum<A> *shared = share_values(own, group, buffers, first_warp, round);
        const int lanes = count < 32 ? lanes_for(count) : 32;
        int i = threadIdx.x & (lanes - 1);
        own = i < count ? shared[i] : empty_max_sum<A>();
#pragma unroll 1
        for (i += lanes; i < count; i += lanes) {
            own = combined(own, shared[i], rate);
        }
        own = lane_max_sum(own, rate, lanes);
    }
    return own;
}

// A sum of plain numbers in the same buffers: where the largest values are equal, the sums simply add up.
template <typename A>
__device__ __forceinline__ A cluster_plain_sum(A own, const warp_group &group, group_buffer<max_sum<A>> (&buffers)[2],
                                               int first_warp, int round) {
    return cluster_max_sum(max_sum<A>{A(0), own}, A(1), group, buffers, first_warp, round).sum;
}

// The same over those who share a row, in whichever way.
template <typename A>
__device__ __forceinline__ max_sum<A> group_max_sum(max_sum<A> own, A rate, const lane_group &group) {
    return lane_max_sum(own, rate, group.lanes);
}
template <typename A>
__device__ __forceinline__ max_sum<A> group_max_sum(max_sum<A> own, A rate, block_group<max_sum<A>> &group) {
    return cluster_max_sum(own, rate, group.warps, group.buffers, 0, group.next_round());
}
template <typename A> __device__ __forceinline__ A group_plain_sum(A own, const lane_group &group) {
    return lane_sum(own, group.lanes);
}
template <typename A> __device__ __forceinline__ A group_plain_sum(A own, block_group<max_sum<A>> &group) {
    return cluster_plain_sum(own, group.warps, group.buffers, 0, group.next_round());
}
