// Short rows that are no whole vectors, in runs. Rows that follow one another are one piece of memory, and n vectors
// hold whole rows, as many as a vector has elements. So a block takes VECTORS slabs of `slab` vectors, a multiple of n,
// and a thread one vector of each slab: its columns are the same in all of them, the first `cut` of one row and the
// others of the next. What rows have in common is loaded once for many of them, and elements move in whole vectors.
//
// Tensors that begin at no multiple of 16 bytes are cut in the same way and take longer.
#pragma once

#include "row_vectors.cuh"

// What threads found in the vectors of one row, for one of the `lanes` neighbouring lanes that put it together: shares
// [first, last) of them, and of the vector before them, whose end is the beginning of the row, `head_count` elements.
template <typename S> struct row_shares {
    int64_t row; // there may be none with this number
    const S *shares;
    S head;
    int head_count;
    int first, last;
    int lane, lanes;
    int columns_left; // of the row, from share `first` on
    int size;         // elements of a vector

    __device__ __forceinline__ bool leads() const { return lane == 0; }
    __device__ __forceinline__ int count(int i) const { return min(size, columns_left - (i - first) * size); }
};

// An address for each vector is not carried from one run to the next, which takes too many registers.
__device__ __forceinline__ void forget(int64_t &start) { asm volatile("" : "+l"(start)); }

template <typename T_, int VECTORS> struct row_run {
    using T = T_;
    static constexpr int SIZE = vector_size<T>;
    using vectors = uint4[VECTORS];

    int n;
    int slab;      // vectors
    int slab_rows; // and rows
    int lane_bits; // of the number of lanes that put one row together
    int row;       // of a slab, where the thread's vector begins
    int column;    // and there
    int cut;       // how many of its elements are of that row
    bool holds;    // whether the thread has vectors at all
    bool aligned;  // whether all tensors are
    bool whole;    // whether all vectors of the run are whole and aligned
    int left;      // elements of the tensor from the run on, at most those of the run
    int odd;       // whether an odd number of times rows were put together
    int64_t rows;  // of the tensor
    int64_t first_row;
    int64_t start; // its first element

    __device__ __forceinline__ row_run(int64_t rows_, int64_t n_, int64_t slab_, bool aligned_)
        : n(static_cast<int>(n_)), slab(static_cast<int>(slab_)), aligned(aligned_), odd(0), rows(rows_) {
        slab_rows = slab / n * SIZE;
        const int thread = static_cast<int>(threadIdx.x);
        holds = thread < slab;
        row = thread * SIZE / n;
        column = thread * SIZE - row * n;
        cut = n - column;
        const int threads_of_row = static_cast<int>(blockDim.x) / (VECTORS * slab_rows);
        lane_bits = threads_of_row > 1 ? min(5, 31 - __clz(threads_of_row)) : 0;
    }

    // Calls `work` for each run of the block.
    template <typename Work> __device__ __forceinline__ void for_each(const Work &work) {
        const int run_rows = VECTORS * slab_rows;
#pragma unroll 1
        for (int64_t run = blockIdx.x; run * run_rows < rows; run += gridDim.x) {
            first_row = run * run_rows;
            start = first_row * n;
            forget(start);
            left = static_cast<int>(min(int64_t{run_rows}, rows - first_row)) * n;
            whole = aligned && left == run_rows * n;
            work();
        }
    }

    // Whether element i of a vector is of its first row, or of the next one.
    __device__ __forceinline__ bool first(int i) const { return i < cut; }
    __device__ __forceinline__ int first_count() const { return min(SIZE, cut); }
    __device__ __forceinline__ int next_count() const { return max(0, SIZE - cut); }

    __device__ __forceinline__ int at(int k) const { return (k * slab + static_cast<int>(threadIdx.x)) * SIZE; }

    template <bool READ_ONLY = true> __device__ __forceinline__ void load(const T *tensor, vectors &to) const {
        const T *from = tensor + start;
        if (whole) {
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                to[k] = make_uint4(0, 0, 0, 0);
                if (holds) {
                    to[k] = load_from<READ_ONLY>(reinterpret_cast<const uint4 *>(from + at(k)));
                }
            }
        } else {
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                to[k] = load_vector<T, false, READ_ONLY>(from, holds ? left : 0, at(k));
            }
        }
    }

    __device__ __forceinline__ void store(T *tensor, const vectors &from) const {
        T *to = tensor + start;
        if (!holds) {
            return;
        }
        if (whole) {
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                __stcg(reinterpret_cast<uint4 *>(to + at(k)), from[k]);
            }
        } else {
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                store_vector<T, false>(to, left, at(k), from[k]);
            }
        }
    }

    // A byte for each element, `words_of(k, words)` gives those of vector k.
    template <typename Words>
    __device__ __forceinline__ void store_bytes(uint8_t *tensor, const Words &words_of) const {
        uint8_t *to = tensor + start;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            uint32_t words[SIZE / 4];
            words_of(k, words);
            if (whole && holds) {
                if constexpr (SIZE == 8) {
                    __stcg(reinterpret_cast<uint2 *>(to + at(k)), make_uint2(words[0], words[1]));
                } else {
                    __stcg(reinterpret_cast<uint32_t *>(to + at(k)), words[0]);
                }
            } else if (holds) {
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    if (at(k) + i < left) {
                        to[at(k) + i] = static_cast<uint8_t>(words[i / 4] >> i % 4 * 8);
                    }
                }
            }
        }
    }

    // What all rows have in common, in the columns of the thread.
    __device__ __forceinline__ void load_columns(const T *from, acc_t<T> (&to)[SIZE]) const {
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            to[i] = from != nullptr && holds ? to_acc(from[first(i) ? column + i : i - cut]) : acc_t<T>(0);
        }
    }

    // Hands what was found in the first and the next row of each vector to those who put rows together, and what they
    // have made of it back: `combine` makes one S of row_shares, which all its lanes call.
    template <typename S, typename Combine>
    __device__ __forceinline__ void put_together(S (&firsts)[VECTORS], S (&nexts)[VECTORS], const Combine &combine) {
        extern __shared__ __align__(128) uint4 slots[];
        S *shares = reinterpret_cast<S *>(slots);
        S *of_rows = shares + VECTORS * (slab + odd * slab_rows); // heads, and then totals
        odd ^= 1;
        S *of_own = of_rows + row;
        if (holds) {
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                shares[k * slab + threadIdx.x] = firsts[k];
            }
            if (cut < SIZE) {
#pragma unroll
                for (int k = 0; k < VECTORS; k++) {
                    of_own[k * slab_rows + 1] = nexts[k];
                }
            }
        }
        __syncthreads();
        const int lanes = 1 << lane_bits;
        const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
#pragma unroll 1
        for (int some = 0; some < VECTORS * slab_rows; some += static_cast<int>(blockDim.x) >> lane_bits) {
            const int index = some + (static_cast<int>(threadIdx.x) >> lane_bits);
            const bool is_row = index < VECTORS * slab_rows;
            const int begin = index * n;
            row_shares<S> found = {is_row ? first_row + index : rows, shares, S{}, 0, 0, 0, lane, lanes, 0, SIZE};
            if (is_row) {
                found.first = (begin + SIZE - 1) / SIZE;
                found.last = (begin + n + SIZE - 1) / SIZE;
                const int head = found.first * SIZE - begin;
                found.columns_left = n - head;
                if (lane == 0 && head > 0) {
                    found.head = of_rows[index];
                    found.head_count = head;
                }
            }
            const S total = combine(found);
            if (is_row && lane == 0) {
                of_rows[index] = total;
            }
        }
        __syncthreads();
        if (holds) {
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                firsts[k] = of_own[k * slab_rows];
                nexts[k] = of_own[k * slab_rows + (cut < SIZE ? 1 : 0)];
            }
        }
    }
};
