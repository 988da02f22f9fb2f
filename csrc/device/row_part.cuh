// Rows that threads share: which part of a row a thread holds, and the ways in which rows are given to threads.
//
// A kind of row, a class, says what is done with one; a thread has one object for each row that it works on:
//     Row::T, Row::part                       its elements, and the row_part that it is cut by
//     Row::shared                             what its threads exchange
//     row.load(a, index, part)                starts the loads of the row
//     Row::columns  columns.load(a, part)     and of what all rows have in common
//     row.finish(a, index, part, columns, group)
// Loads of all rows come first, so that they are in flight together. Where there is no such row, part.n is 0.
#pragma once

#include "reduce.cuh"
#include "row_vectors.cuh"

// A vector as it lies in memory, or one element as it is computed with.
template <typename T, bool ELEMENTS> struct row_piece {
    using type = uint4;
};
template <typename T> struct row_piece<T, true> {
    using type = acc_t<T>;
};

// The part of a row that a thread holds: pieces `stride` columns apart, 16-byte vectors or single ELEMENTS. ALIGNED:
// rows are made of whole, aligned vectors.
template <typename T, bool ALIGNED, bool ELEMENTS = false> struct row_part {
    static constexpr int WIDTH = ELEMENTS ? 1 : vector_size<T>;
    static constexpr bool WHOLE = ALIGNED || ELEMENTS; // every piece is in the row or outside
    using piece = typename row_piece<T, ELEMENTS>::type;

    int n;
    int first;
    int stride;

    // Elements before the row at which to cut it.
    static __device__ __forceinline__ int shift(const T *row, int n) {
        return ELEMENTS ? 0 : row_shift<T, ALIGNED>(row, n);
    }

    __device__ __forceinline__ int column(int k) const { return first + k * stride; }

    // Whether element i of piece k is one of the row.
    __device__ __forceinline__ bool has(int k, int i) const {
        return WHOLE ? column(k) < n : column(k) + i >= 0 && column(k) + i < n;
    }

    // How many elements of piece k are.
    __device__ __forceinline__ int inside(int k) const {
        return WHOLE ? (column(k) < n ? WIDTH : 0) : max(0, min(n, column(k) + WIDTH) - max(0, column(k)));
    }

    template <bool READ_ONLY = true> __device__ __forceinline__ piece load(const T *row, int k) const {
        if constexpr (ELEMENTS) {
            return column(k) < n ? to_acc(row[column(k)]) : piece(0);
        } else {
            return load_vector<T, ALIGNED, READ_ONLY>(row, n, column(k));
        }
    }
    // The same of a row of a contiguous tensor. What comes along of neighbouring rows is cleared later: waited for
    // where a row begins or ends, it would keep the warp from its next load.
    template <bool READ_ONLY = true>
    __device__ __forceinline__ piece load_row(const T *tensor, int64_t rows, const T *row, int k) const {
        if constexpr (WHOLE) {
            return load<READ_ONLY>(row, k);
        } else {
            return load_row_vector<T, ALIGNED, READ_ONLY>(tensor, rows * n, row, n, column(k));
        }
    }
    __device__ __forceinline__ void clear_outside(piece &held, int k) const {
        if constexpr (!WHOLE) {
            if (column(k) < 0 || column(k) + WIDTH > n) {
                bits_t<T> elements[WIDTH];
                memcpy(elements, &held, sizeof held);
#pragma unroll
                for (int i = 0; i < WIDTH; i++) {
                    elements[i] = has(k, i) ? elements[i] : bits_t<T>(0);
                }
                memcpy(&held, elements, sizeof held);
            }
        }
    }
    // Piece k of what rows have in common, `given` elements: aligned in its own way.
    __device__ __forceinline__ piece load_common(const T *row, int given, int k) const {
        if constexpr (WHOLE) {
            const row_part part = {given, first, stride};
            return part.load(row, k);
        } else {
            return load_misaligned_vector(row, given, column(k));
        }
    }
    __device__ __forceinline__ void store(T *row, int k, const acc_t<T> (&values)[WIDTH]) const {
        if constexpr (!ELEMENTS) {
            store_vector<T, ALIGNED>(row, n, column(k), ::pack<T>(values));
        } else if (column(k) < n) {
            row[column(k)] = from_acc<T>(values[0]);
        }
    }

    static __device__ __forceinline__ void unpack(const piece &held, acc_t<T> (&values)[WIDTH]) {
        if constexpr (ELEMENTS) {
            values[0] = held;
        } else {
            ::unpack<T>(held, values);
        }
    }
    // As they would be loaded after a store.
    static __device__ __forceinline__ piece pack(const acc_t<T> (&values)[WIDTH]) {
        if constexpr (ELEMENTS) {
            return to_acc(from_acc<T>(values[0]));
        } else {
            return ::pack<T>(values);
        }
    }
};

// Neighbouring lanes of a warp, a power of two, that share a row.
struct lane_group {
    int lanes;

    __device__ __forceinline__ bool leads() const { return threadIdx.x % lanes == 0; }
    template <typename V> __device__ __forceinline__ V sum(V value) { return lane_sum(value, lanes); }
};

// The threads of a block, or of a cluster of blocks, that share a row. Before the first exchange the cluster's blocks
// must have started, which is waited for as late as that.
template <typename V> struct block_group {
    warp_group warps;
    group_buffer<V> (&buffers)[2];
    int round;

    __device__ __forceinline__ bool leads() const { return warps.rank == 0 && threadIdx.x == 0; }
    __device__ __forceinline__ int next_round() {
        if (round == 0 && warps.blocks > 1) {
            await_cluster();
        }
        return round++;
    }
    __device__ __forceinline__ V sum(V value) { return cluster_sum(value, warps, buffers, 0, next_round()); }
};

// ROWS rows for each `lanes` lanes, which divide 32; lanes are neighbours in memory.
template <typename Row, int ROWS, typename Args>
__device__ __forceinline__ void rows_by_lanes(const Args &a, int lanes) {
    constexpr int WIDTH = Row::part::WIDTH;
    const int groups = blockDim.x / lanes;
    const int64_t first_row = int64_t{blockIdx.x} * groups * ROWS + threadIdx.x / lanes;
    const typename Row::part whole = {static_cast<int>(a.n), int(threadIdx.x % lanes) * WIDTH, lanes * WIDTH};
    Row rows[ROWS];
    typename Row::part parts[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int64_t index = first_row + r * groups;
        parts[r] = whole;
        parts[r].n = index < a.rows ? whole.n : 0;
        rows[r].load(a, index, parts[r]);
    }
    typename Row::columns columns;
    columns.load(a, parts[0]);
    lane_group group = {lanes};
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        rows[r].finish(a, first_row + r * groups, parts[r], columns, group);
    }
}

// A row for each block or cluster, PIECES for each thread; those of a warp are neighbours. The row is cut where
// `tensor`, the elements of all rows, is aligned. ALONE: such rows need no cluster.
template <typename Row, int PIECES, bool ALONE, typename Args, typename T>
__device__ __forceinline__ void rows_by_blocks(const Args &a, const T *tensor) {
    __shared__ group_buffer<typename Row::shared> buffers[2];
    constexpr int WIDTH = Row::part::WIDTH;
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;
    const warp_group group = {warps, warp, 0, ALONE ? 1 : cluster_blocks(), ALONE ? 0 : cluster_rank()};
    if (group.blocks > 1) {
        announce_block(buffers);
    }
    const int64_t index = ALONE ? blockIdx.x : cluster_index();
    const int first = ((group.rank * warps + warp) * PIECES * 32 + int(threadIdx.x) % 32) * WIDTH;
    const int n = static_cast<int>(a.n);
    const typename Row::part part = {n, first - Row::part::shift(tensor + index * n, n), 32 * WIDTH};
    Row row;
    row.load(a, index, part);
    typename Row::columns columns;
    columns.load(a, part);
    block_group<typename Row::shared> threads = {group, buffers, 0};
    row.finish(a, index, part, columns, threads);
}

// A row for each block or cluster, which keeps it in shared memory, PIECES vectors for each thread: a multiprocessor
// has room for twice as many bytes there as in its registers. A thread copies and reads its own vectors, without a
// barrier; row.slots is where they are, 32 apart, those of the second tensor behind those of the first.
template <typename Row, int PIECES, int TENSORS, typename Args, typename T>
__device__ __forceinline__ void rows_in_shared(const Args &a, const T *const (&tensors)[TENSORS]) {
    using part_type = typename Row::part;
    extern __shared__ __align__(128) uint4 slots[]; // of a warp: [TENSORS][PIECES][32]
    __shared__ group_buffer<typename Row::shared> buffers[2];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const warp_group group = {static_cast<int>(blockDim.x) / 32, warp, 0, cluster_blocks(), cluster_rank()};
    if (group.blocks > 1) {
        announce_block(buffers);
    }
    const int n = static_cast<int>(a.n);
    const int64_t row = cluster_index();
    const int64_t start = row * n;
    const int first = ((group.rank * group.warps + warp) * PIECES * 32 + lane) * part_type::WIDTH;
    const part_type part = {n, first - part_type::shift(tensors[0] + start, n), 32 * part_type::WIDTH};
    uint4 *own = slots + warp * TENSORS * PIECES * 32 + lane;
#pragma unroll
    for (int j = 0; j < TENSORS; j++) {
#pragma unroll
        for (int k = 0; k < PIECES; k++) {
            const int column = part.column(k);
            fetch<T, part_type::WHOLE>(own + (j * PIECES + k) * 32, tensors[j] + start + column, n, column, true,
                                       tensors[j], a.rows * n);
        }
    }
    commit_copies();
    Row held;
    held.slots = own;
    held.load(a, row, part);
    typename Row::columns columns;
    columns.load(a, part);
    block_group<typename Row::shared> threads = {group, buffers, 0};
    await_copies<0>();
    held.finish(a, row, part, columns, threads);
}

// What was read from shared memory before is read again, not kept in registers.
__device__ __forceinline__ void forget_shared() { asm volatile("" ::: "memory"); }
