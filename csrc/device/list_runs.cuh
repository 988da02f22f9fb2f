// All elements of a list of tensors, counted one tensor after the other, and cut into parts of equal length, one for
// each block: blocks have the same work, however many tensors there are and however their lengths differ.
//
// Inside of a tensor, cuts are at multiples of LIST_CUT elements, so that vectors stay whole where tensors are aligned.
#pragma once

#include "vector.cuh"

constexpr int64_t LIST_CUT = 64;

struct list_place {
    int64_t tensor;
    int64_t element;
};

// Where the element with this number is, or the cut before it; behind all tensors where there is none. Each warp looks
// on its own, all of its lanes.
__device__ __forceinline__ list_place place_in_list(const int64_t *sizes, int64_t count, int64_t number) {
    constexpr int HELD = 8; // tensors of a lane
    const int lane = threadIdx.x % 32;
    int64_t before = 0;
#pragma unroll 1
    for (int64_t first = lane * HELD; first - lane * HELD < count; first += 32 * HELD) {
        int64_t held[HELD];
        int64_t own = 0;
#pragma unroll
        for (int k = 0; k < HELD; k++) {
            held[k] = first + k < count ? sizes[first + k] : 0;
            own += held[k];
        }
        int64_t through = own; // this lane
#pragma unroll
        for (int distance = 1; distance < 32; distance *= 2) {
            const int64_t other = __shfl_up_sync(0xffffffffu, through, distance);
            through += lane >= distance ? other : 0;
        }
        const int lanes_before = __popc(__ballot_sync(0xffffffffu, before + through <= number));
        if (lanes_before < 32) {
            int64_t tensor = first;
            int64_t element = number - (before + through - own);
            bool behind = true;
#pragma unroll
            for (int k = 0; k < HELD - 1; k++) {
                behind = behind && element >= held[k];
                element -= behind ? held[k] : 0;
                tensor += behind ? 1 : 0;
            }
            element -= element % LIST_CUT;
            return {__shfl_sync(0xffffffffu, tensor, lanes_before), __shfl_sync(0xffffffffu, element, lanes_before)};
        }
        before += __shfl_sync(0xffffffffu, through, 31);
    }
    return {count, 0};
}

// The part of this block: visit(tensor, first, last) for each run of elements in it. `total` is how many elements the
// list has. All threads of the block call it.
template <typename Visit>
__device__ __forceinline__ void over_list_part(const int64_t *sizes, int64_t count, int64_t total, const Visit &visit) {
    const int64_t length = (total + gridDim.x - 1) / gridDim.x;
    const list_place from = place_in_list(sizes, count, blockIdx.x * length);
    const list_place to = place_in_list(sizes, count, min(total, (blockIdx.x + int64_t{1}) * length));
#pragma unroll 1
    for (int64_t tensor = from.tensor; tensor < count && tensor <= to.tensor; tensor++) {
        const int64_t first = tensor == from.tensor ? from.element : 0;
        const int64_t last = tensor == to.tensor ? to.element : sizes[tensor];
        if (first < last) {
            visit(tensor, first, last);
        }
    }
}

// A run of elements as vectors, which `aligned(element)` says may begin at an element, and what is left at its ends. A
// part of a list that fits into memory has less than 2^31 elements.
template <int WIDTH> struct vector_run {
    int start, end, count; // vectors are in [start, end)

    template <typename Aligned>
    __device__ __forceinline__ vector_run(int64_t count_, const Aligned &aligned)
        : start(static_cast<int>(count_)), count(static_cast<int>(count_)) {
#pragma unroll
        for (int i = WIDTH - 1; i >= 0; i--) {
            start = i < count && aligned(i) ? i : start;
        }
        end = start + (count - start) / WIDTH * WIDTH;
    }

    // Elements outside of vectors, and the one with such a number.
    __device__ __forceinline__ int rest() const { return start + count - end; }
    __device__ __forceinline__ int rest_element(int number) const {
        return number < start ? number : end + (number - start);
    }
};

// WIDTH elements in vectors, aligned and all of them there, as they are computed with.
template <int WIDTH, typename T, typename A>
__device__ __forceinline__ void load_elements(const T *from, A (&values)[WIDTH]) {
    constexpr int SIZE = vector_size<T>;
    static_assert(WIDTH % SIZE == 0);
#pragma unroll
    for (int k = 0; k < WIDTH; k += SIZE) {
        acc_t<T> part[SIZE];
        unpack<T>(*reinterpret_cast<const uint4 *>(from + k), part);
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            values[k + i] = static_cast<A>(part[i]);
        }
    }
}
template <int WIDTH, typename T, typename A>
__device__ __forceinline__ void store_elements(T *to, const A (&values)[WIDTH]) {
    constexpr int SIZE = vector_size<T>;
    static_assert(WIDTH % SIZE == 0);
#pragma unroll
    for (int k = 0; k < WIDTH; k += SIZE) {
        acc_t<T> part[SIZE];
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            part[i] = static_cast<acc_t<T>>(values[k + i]);
        }
        __stcg(reinterpret_cast<uint4 *>(to + k), pack<T>(part));
    }
}
