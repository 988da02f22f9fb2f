// Means and squared distances to them, of parts of a row: merged, they lose nothing to cancellation, however large the
// mean is. https://doi.org/10.1080/00031305.1983.10483115, equation 2.1.
#pragma once

#include "reduce.cuh"

template <typename A> struct alignas(2 * sizeof(A)) moments {
    A mean;
    A squares; // the sum of squared distances to the mean
};

// Over `lanes` neighbouring lanes, a power of two, each of which holds those of `count` numbers; `total` in all.
template <typename A>
__device__ __forceinline__ moments<A> lane_moments(const moments<A> &own, A count, A total, int lanes) {
    const A mean = lane_sum(count * own.mean, lanes) * (A(1) / max(total, A(1)));
    const A distance = own.mean - mean;
    return {mean, lane_sum(own.squares + count * (distance * distance), lanes)};
}

// Over a group of warps; count_of(i) is how many numbers warp i of the group holds, block by block. See cluster_sum.
template <typename A, typename Count>
__device__ __forceinline__ moments<A> group_moments(const moments<A> &of_warp, const warp_group &group,
                                                    group_buffer<moments<A>> (&buffers)[2], int round,
                                                    const Count &count_of) {
    const int count = group.blocks * group.warps;
    if (count == 1) {
        return of_warp;
    }
    const moments<A> *shared = share_values(of_warp, group, buffers, 0, round);
    const int lanes = count < 32 ? lanes_for(count) : 32;
    const int lane = threadIdx.x & (lanes - 1);
    A sum = 0;
    A total = 0;
#pragma unroll 1
    for (int i = lane; i < count; i += lanes) {
        sum += count_of(i) * shared[i].mean;
        total += count_of(i);
    }
    const A mean = lane_sum(sum, lanes) * (A(1) / lane_sum(total, lanes));
    A squares = 0;
#pragma unroll 1
    for (int i = lane; i < count; i += lanes) {
        const A distance = shared[i].mean - mean;
        squares += shared[i].squares + count_of(i) * (distance * distance);
    }
    return {mean, lane_sum(squares, lanes)};
}
