// Sums over lanes, warps, blocks and clusters. The order of additions is fixed, so results are the same in every run,
// and each thread that takes part gets the same bits.
#pragma once

#include <stdint.h>
#include <string.h>

// Two values that are summed, or handed on, side by side.
template <typename A> struct alignas(2 * sizeof(A)) two {
    A first;
    A second;

    __device__ __forceinline__ two &operator+=(const two &other) {
        first += other.first;
        second += other.second;
        return *this;
    }
};

template <typename A> __device__ __forceinline__ A shuffle_xor(A value, int offset) {
    return __shfl_xor_sync(0xffffffffu, value, offset);
}
template <typename A> __device__ __forceinline__ two<A> shuffle_xor(two<A> value, int offset) {
    return {shuffle_xor(value.first, offset), shuffle_xor(value.second, offset)};
}

template <typename A> __device__ __forceinline__ A warp_sum(A value) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        value += shuffle_xor(value, offset);
    }
    return value;
}

// Sum over `lanes` neighbouring lanes, a power of two. All lanes of the warp call it.
template <typename A> __device__ __forceinline__ A lane_sum(A value, int lanes) {
#pragma unroll
    for (int offset = 16; offset > 0; offset /= 2) {
        if (offset < lanes) {
            value += shuffle_xor(value, offset);
        }
    }
    return value;
}

// Waits for `threads` threads of the block, those that name the same barrier: 1 to 15, 0 being that of __syncthreads.
__device__ __forceinline__ void group_barrier(int barrier, int threads) {
    asm volatile("barrier.sync %0, %1;" ::"r"(barrier), "r"(threads) : "memory");
}

// Blocks of a cluster (sm_90) reach each other's shared memory. Elsewhere every block is a cluster of its own.
__device__ __forceinline__ int64_t cluster_index() {
#if __CUDA_ARCH__ >= 900
    uint32_t index;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(index));
    return index;
#else
    return blockIdx.x;
#endif
}
__device__ __forceinline__ int cluster_rank() {
#if __CUDA_ARCH__ >= 900
    uint32_t rank;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return static_cast<int>(rank);
#else
    return 0;
#endif
}
__device__ __forceinline__ int cluster_blocks() {
#if __CUDA_ARCH__ >= 900
    uint32_t blocks;
    asm("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
    return static_cast<int>(blocks);
#else
    return 1;
#endif
}

// Threads that share a row: whole warps of one block, or all warps of a cluster's blocks. A block may hold several
// groups side by side, each with a barrier of its own.
struct warp_group {
    int warps;   // of this block
    int warp;    // this thread's, counted in the group
    int barrier; // of this block, where it is alone
    int blocks;  // of the cluster
    int rank;    // of this block in its cluster
};

__device__ __forceinline__ warp_group whole_block() {
    return {static_cast<int>(blockDim.x) / 32, static_cast<int>(threadIdx.x) / 32, 0, 1, 0};
}

constexpr int MAX_WARPS = 32;
constexpr int MAX_CLUSTER = 8;

// What group_sum needs in shared memory, one for each of two consecutive sums: a warp that is late in reading one sum
// is then not overtaken by the next. `arrived` counts the bytes that a cluster's blocks send here.
template <typename A> struct group_buffer {
    uint64_t arrived;
    A sums[MAX_CLUSTER * MAX_WARPS];
};

// Before the first sum of a cluster its blocks must have started and be ready to count bytes: all threads call
// announce_block, and await_cluster later.
template <typename A> __device__ __forceinline__ void announce_block(group_buffer<A> (&buffers)[2]) {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x < 2) {
        const uint32_t arrived = static_cast<uint32_t>(__cvta_generic_to_shared(&buffers[threadIdx.x].arrived));
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(arrived) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncwarp();
    asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
#endif
}
__device__ __forceinline__ void await_cluster() {
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
}

// Stores a value in shared memory of any block of the cluster, and counts its bytes there.
template <typename A> __device__ __forceinline__ void send_to_block(uint32_t target, A value, uint32_t arrived) {
#if __CUDA_ARCH__ >= 900
    uint64_t words[(sizeof(A) + 7) / 8] = {};
    memcpy(words, &value, sizeof value);
    if constexpr (sizeof(A) == 4) {
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(target),
                     "r"(static_cast<uint32_t>(words[0])), "r"(arrived)
                     : "memory");
    } else if constexpr (sizeof(A) == 8) {
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b64 [%0], %1, [%2];" ::"r"(target),
                     "l"(words[0]), "r"(arrived)
                     : "memory");
    } else {
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b64 [%0], {%1, %2}, [%3];" ::"r"(target),
                     "l"(words[0]), "l"(words[1]), "r"(arrived)
                     : "memory");
    }
#endif
}

// Every warp sends its value to each block of the cluster; a block waits until all bytes have come. `round` counts
// exchanges.
template <typename A>
__device__ __forceinline__ void exchange_in_cluster(A sum, const warp_group &group, group_buffer<A> &buffer,
                                                    int round) {
#if __CUDA_ARCH__ >= 900
    const int lane = threadIdx.x % 32;
    const uint32_t arrived = static_cast<uint32_t>(__cvta_generic_to_shared(&buffer.arrived));
    if (threadIdx.x == 0) {
        const uint32_t bytes = group.blocks * group.warps * sizeof(A);
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(arrived), "r"(bytes) : "memory");
    }
    if (lane < group.blocks) {
        uint32_t target =
            static_cast<uint32_t>(__cvta_generic_to_shared(&buffer.sums[group.rank * group.warps + group.warp]));
        uint32_t target_arrived;
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(target) : "r"(target), "r"(lane));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(target_arrived) : "r"(arrived), "r"(lane));
        send_to_block(target, sum, target_arrived);
    }
    const uint32_t parity = round / 2 % 2;
    asm volatile("{\n\t"
                 ".reg .pred done;\n"
                 "wait:\n\t"
                 "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n\t"
                 "@!done bra wait;\n\t"
                 "}" ::"r"(arrived),
                 "r"(parity)
                 : "memory");
#endif
}

// Hands the value of each warp to all warps of its group: entry i of what comes back is that of warp i, block by block.
// `round` counts the exchanges of a loop; buffers[round % 2] is written, for a block alone at first_warp and above.
template <typename A>
__device__ __forceinline__ const A *share_values(A value, const warp_group &group, group_buffer<A> (&buffers)[2],
                                                 int first_warp, int round) {
    group_buffer<A> &buffer = buffers[round % 2];
    if (group.blocks > 1) {
        exchange_in_cluster(value, group, buffer, round);
        return buffer.sums;
    }
    if (threadIdx.x % 32 == 0) {
        buffer.sums[first_warp + group.warp] = value;
    }
    group_barrier(group.barrier, group.warps * 32);
    return buffer.sums + first_warp;
}

// The next power of two of a number of warps: summing what they shared takes no more shuffles than that many lanes
// need.
__device__ __forceinline__ int lanes_for(int warps) { return 1 << (32 - __clz(warps - 1)); }

// Sum over a group of one block.
template <typename A>
__device__ __forceinline__ A group_sum(A value, const warp_group &group, group_buffer<A> (&buffers)[2], int first_warp,
                                       int round) {
    value = warp_sum(value);
    if (group.warps > 1) {
        const A *sums = share_values(value, group, buffers, first_warp, round);
        const int lanes = lanes_for(group.warps);
        const int warp = threadIdx.x & (lanes - 1);
        value = lane_sum(warp < group.warps ? sums[warp] : A{}, lanes);
    }
    return value;
}

// The same where the group may be spread over a cluster.
template <typename A>
__device__ __forceinline__ A cluster_sum(A value, const warp_group &group, group_buffer<A> (&buffers)[2],
                                         int first_warp, int round) {
    if (group.blocks == 1) {
        return group_sum(value, group, buffers, first_warp, round);
    }
    const A *sums = share_values(warp_sum(value), group, buffers, first_warp, round);
    A sum = {};
#pragma unroll 1
    for (int i = threadIdx.x % 32; i < group.blocks * group.warps; i += 32) {
        sum += sums[i];
    }
    return warp_sum(sum);
}
