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

// 1 / x. For float one instruction, one unit in the last place off.
__device__ __forceinline__ float reciprocal(float x) {
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
__device__ __forceinline__ double reciprocal(double x) { return 1 / x; }

template <typename A> __device__ __forceinline__ A minus_infinity() { return static_cast<A>(-INFINITY); }

template <typename A> struct alignas(2 * sizeof(A)) max_sum {
    A max;
    A sum;

    // What is subtracted from values: not -infinity, from which nothing can be subtracted.
    __device__ __forceinline__ A base() const { return max == minus_infinity<A>() ? A(0) : max; }

    // The factor that makes the sum one of 2^(rate * (v - base)).
    __device__ __forceinline__ A rebased(A base, A rate) const { return power_of_two((max - base) * rate); }

    // What exponentials relative to `max` are multiplied by, to be shares of `all`.
    __device__ __forceinline__ A share_of(const max_sum &all, A rate) const {
        return all.sum == 0 ? A(0) : rebased(all.base(), rate) * reciprocal(all.sum);
    }
};

template <typename A> __device__ __forceinline__ max_sum<A> empty_max_sum() { return {minus_infinity<A>(), A(0)}; }

template <typename A> __device__ __forceinline__ max_sum<A> combined(const max_sum<A> &a, const max_sum<A> &b, A rate) {
    max_sum<A> both = {max(a.max, b.max), A(0)};
    both.sum = a.sum * a.rebased(both.base(), rate) + b.sum * b.rebased(both.base(), rate);
    return both;
}

// Over `lanes` neighbouring lanes, a power of two; a NaN is no number here. All lanes of the warp call it.
template <typename A> __device__ __forceinline__ A lane_largest(A value, int lanes) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        if (offset < lanes) {
            value = max(value, shuffle_xor(value, offset));
        }
    }
    return value;
}

// Of the values that `lanes` neighbouring lanes hold, a power of two; values become their exponentials. All lanes of
// the warp call it.
template <typename A, int VECTORS, int SIZE>
__device__ __forceinline__ max_sum<A> exponentials(A (&values)[VECTORS][SIZE], A rate, int lanes) {
    A largest[VECTORS]; // a chain for each vector, here and below
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        largest[k] = values[k][0];
#pragma unroll
        for (int i = 1; i < SIZE; i++) {
            largest[k] = max(largest[k], values[k][i]);
        }
        largest[0] = max(largest[0], largest[k]);
    }
    max_sum<A> found = {max(lane_largest(largest[0], lanes), minus_infinity<A>()), A(0)};
    const A base = found.base();
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        A sum = 0;
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            values[k][i] = power_of_two((values[k][i] - base) * rate);
            sum = i == 0 ? values[k][i] : sum + values[k][i];
        }
        found.sum += sum;
    }
    found.sum = lane_sum(found.sum, lanes);
    return found;
}

// Of what `lanes` lanes hold each.
template <typename A> __device__ __forceinline__ max_sum<A> lane_max_sum(max_sum<A> own, A rate, int lanes) {
    max_sum<A> all = {lane_largest(own.max, lanes), A(0)};
    all.sum = lane_sum(own.sum * own.rebased(all.base(), rate), lanes);
    return all;
}

// The same of values that are read twice: values_of(k, values) gives SIZE of them.
template <typename A, int VECTORS, int SIZE, typename Values>
__device__ __forceinline__ max_sum<A> sum_exponentials(const Values &values_of, A rate) {
    A values[SIZE];
    A largest = minus_infinity<A>();
#pragma unroll 2
    for (int k = 0; k < VECTORS; k++) {
        values_of(k, values);
        A of_vector = values[0];
#pragma unroll
        for (int i = 1; i < SIZE; i++) {
            of_vector = max(of_vector, values[i]);
        }
        largest = max(largest, of_vector);
    }
    max_sum<A> found = {lane_largest(largest, 32), A(0)};
    const A base = found.base();
    forget_shared();
#pragma unroll 2
    for (int k = 0; k < VECTORS; k++) {
        values_of(k, values);
        A sum = 0;
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            const A exponential = power_of_two((values[i] - base) * rate);
            sum = i == 0 ? exponential : sum + exponential;
        }
        found.sum += sum;
    }
    found.sum = lane_sum(found.sum, 32);
    return found;
}

// Over a group of warps; see cluster_sum.
template <typename A>
__device__ __forceinline__ max_sum<A> cluster_max_sum(max_sum<A> of_warp, A rate, const warp_group &group,
                                                      group_buffer<max_sum<A>> (&buffers)[2], int first_warp,
                                                      int round) {
    const int count = group.blocks * group.warps;
    if (count == 1) {
        return of_warp;
    }
    const max_sum<A> *shared = share_values(of_warp, group, buffers, first_warp, round);
    const int lanes = count < 32 ? lanes_for(count) : 32;
    const int lane = threadIdx.x & (lanes - 1);
    max_sum<A> all = empty_max_sum<A>();
    for (int i = lane; i < count; i += lanes) {
        all.max = max(all.max, shared[i].max);
    }
    all.max = lane_largest(all.max, lanes);
    const A base = all.base();
    for (int i = lane; i < count; i += lanes) {
        all.sum += shared[i].sum * shared[i].rebased(base, rate);
    }
    all.sum = lane_sum(all.sum, lanes);
    return all;
}

// A sum of plain numbers in the same buffers: where the largest values are equal, the sums simply add up.
template <typename A>
__device__ __forceinline__ A cluster_plain_sum(A own, const warp_group &group, group_buffer<max_sum<A>> (&buffers)[2],
                                               int first_warp, int round) {
    return cluster_max_sum(max_sum<A>{A(0), warp_sum(own)}, A(1), group, buffers, first_warp, round).sum;
}

// Of the exponentials of all who share a row, in whichever way, out of those of the lanes that `exponentials` took
// together, and a sum of plain numbers.
__device__ __forceinline__ int lanes_of(const lane_group &group) { return group.lanes; }
template <typename V> __device__ __forceinline__ int lanes_of(const block_group<V> &) { return 32; }
template <typename A>
__device__ __forceinline__ max_sum<A> group_max_sum(const max_sum<A> &of_lanes, A, const lane_group &) {
    return of_lanes;
}
template <typename A>
__device__ __forceinline__ max_sum<A> group_max_sum(const max_sum<A> &of_warp, A rate, block_group<max_sum<A>> &group) {
    return cluster_max_sum(of_warp, rate, group.warps, group.buffers, 0, group.next_round());
}
template <typename A> __device__ __forceinline__ A group_plain_sum(A own, const lane_group &group) {
    return lane_sum(own, group.lanes);
}
template <typename A> __device__ __forceinline__ A group_plain_sum(A own, block_group<max_sum<A>> &group) {
    return cluster_plain_sum(own, group.warps, group.buffers, 0, group.next_round());
}
