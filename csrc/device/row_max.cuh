// The largest of some numbers, a NaN if there is one, over lanes, blocks and clusters: as the sums of reduce.cuh.
#pragma once

#include "row_part.cuh"

__device__ __forceinline__ float max_or_nan(float a, float b) {
    float largest;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(largest) : "f"(a), "f"(b));
    return largest;
}

// Over `lanes` neighbouring lanes, a power of two. All lanes of the warp call it.
__device__ __forceinline__ float lane_max(float value, int lanes) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        if (offset < lanes) {
            value = max_or_nan(value, __shfl_xor_sync(0xffffffffu, value, offset));
        }
    }
    return value;
}

// Over a group of warps, of numbers that are not negative; see cluster_sum.
__device__ __forceinline__ float cluster_max(float value, const warp_group &group, group_buffer<float> (&buffers)[2],
                                             int first_warp, int round) {
    value = lane_max(value, 32);
    const int count = group.blocks * group.warps;
    if (count > 1) {
        const float *shared = share_values(value, group, buffers, first_warp, round);
        const int lanes = count < 32 ? lanes_for(count) : 32;
        value = 0;
        for (int i = threadIdx.x & (lanes - 1); i < count; i += lanes) {
            value = max_or_nan(value, shared[i]);
        }
        value = lane_max(value, lanes);
    }
    return value;
}

// Over all who share a row, in whichever way.
__device__ __forceinline__ float group_max(float value, const lane_group &group) {
    return lane_max(value, group.lanes);
}
__device__ __forceinline__ float group_max(float value, block_group<float> &group) {
    return cluster_max(value, group.warps, group.buffers, 0, group.next_round());
}
