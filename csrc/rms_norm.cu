// y = x * rstd * weight with rstd = 1 / sqrt(mean(x^2) + eps), for each row: https://arxiv.org/abs/1910.07467, equation 4.
//
// A row is read once, in 16-byte vectors, and stays in registers between the sum and the product. Short rows share a
// warp, several rows in flight per thread; longer ones take a block, the longest a cluster of blocks. The weight is
// loaded before the sum is known. A row that fits nowhere is read twice.
//
// ALIGNED: every row is made of whole, aligned vectors.
// VECTORS: vectors of a row that a thread holds; 0 reads the row twice.
// ROWS:    rows that a thread works on at once, a.lanes lanes each; 0 gives a row to a block or cluster.
#include "rms_norm.cuh"

#include "reduce.cuh"
#include "vector.cuh"

template <typename T> __device__ __forceinline__ acc_t<T> sum_of_squares(uint4 vector)
{
    acc_t<T> values[vector_size<T>];
    unpack<T>(vector, values);
    acc_t<T> sum = 0;
#pragma unroll
    for (int i = 0; i < vector_size<T>; i++) {
        sum += values[i] * values[i];
    }
    return sum;
}

template <typename T> __device__ __forceinline__ uint4 scaled(uint4 vector, uint4 weight, acc_t<T> rstd)
{
    acc_t<T> values[vector_size<T>];
    acc_t<T> weights[vector_size<T>];
    unpack<T>(vector, values);
    unpack<T>(weight, weights);
#pragma unroll
    for (int i = 0; i < vector_size<T>; i++) {
        values[i] = values[i] * rstd * weights[i];
    }
    return pack<T>(values);
}

template <typename T> __device__ __forceinline__ acc_t<T> row_rstd(const rms_norm_args<T> &a, acc_t<T> squares)
{
    return rsqrt(squares * (acc_t<T>(1) / static_cast<acc_t<T>>(a.n)) + a.eps);
}

template <typename T, bool ALIGNED, int VECTORS, int ROWS>
__device__ __forceinline__ void normalize_by_lanes(const rms_norm_args<T> &a)
{
    constexpr int SIZE = vector_size<T>;
    const int n = static_cast<int>(a.n);
    const int lanes = static_cast<int>(a.lanes);
    const int groups = blockDim.x / lanes;
    const int lane = threadIdx.x % lanes;
    const int64_t first_row = int64_t{blockIdx.x} * groups * ROWS + threadIdx.x / lanes;

    uint4 x[ROWS][VECTORS];
    uint4 weight[ALIGNED ? 1 : ROWS][VECTORS];
    int first[ALIGNED ? 1 : ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int64_t row = first_row + r * groups;
        const int shift = row_shift<T, ALIGNED>(a.x + row * n, n);
        if (r == 0 || !ALIGNED) {
            first[r] = lane * SIZE - shift;
        }
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            x[r][k] = make_uint4(0, 0, 0, 0);
            if (row < a.rows) {
                x[r][k] = load_vector<T, ALIGNED, true>(a.x + row * n, n, first[ALIGNED ? 0 : r] + k * lanes * SIZE);
            }
        }
    }
#pragma unroll
    for (int r = 0; r < (ALIGNED ? 1 : ROWS); r++) {
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            weight[r][k] = load_vector<T, ALIGNED, false>(a.weight, n, first[r] + k * lanes * SIZE);
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int64_t row = first_row + r * groups;
        acc_t<T> squares = 0;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            squares += sum_of_squares<T>(x[r][k]);
        }
        const acc_t<T> rstd = row_rstd(a, lane_sum(squares, lanes));
        if (row < a.rows) {
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                store_vector<T, ALIGNED>(a.y + row * n, n, first[ALIGNED ? 0 : r] + k * lanes * SIZE,
                                         scaled<T>(x[r][k], weight[ALIGNED ? 0 : r][k], rstd));
            }
            if (a.rstd != nullptr && lane == 0) {
                a.rstd[row] = rstd;
            }
        }
    }
}

// First element of a thread where warps take VECTORS * 32 neighbouring vectors each, a lane every 32nd of them.
template <typename T, int VECTORS> __device__ __forceinline__ int first_of_thread()
{
    return (int(threadIdx.x) / 32 * VECTORS * 32 + int(threadIdx.x) % 32) * vector_size<T>;
}

template <typename T, bool ALIGNED, int VECTORS>
__device__ __forceinline__ void normalize_by_blocks(const rms_norm_args<T> &a)
{
    __shared__ group_buffer<acc_t<T>> buffers[2];
    constexpr int STRIDE = 32 * vector_size<T>;
    const int64_t row = blockIdx.x;
    const int n = static_cast<int>(a.n);
    const T *x_row = a.x + row * n;
    const int first = first_of_thread<T, VECTORS>() - row_shift<T, ALIGNED>(x_row, n);

    uint4 x[VECTORS];
    uint4 weight[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        x[k] = load_vector<T, ALIGNED, true>(x_row, n, first + k * STRIDE);
    }
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        weight[k] = load_vector<T, ALIGNED, false>(a.weight, n, first + k * STRIDE);
    }
    acc_t<T> squares = 0;
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        squares += sum_of_squares<T>(x[k]);
    }
    const acc_t<T> rstd = row_rstd(a, group_sum(squares, whole_block(), buffers, 0, 0));
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        store_vector<T, ALIGNED>(a.y + row * n, n, first + k * STRIDE, scaled<T>(x[k], weight[k], rstd));
    }
    if (a.rstd != nullptr && threadIdx.x == 0) {
        a.rstd[row] = rstd;
    }
}

// A row in shared memory, and as much of the next rows as there is room for: a vector that has been used makes room for
// the one SLOTS vectors later. Threads copy and read their own vectors, so that copying needs no barrier.
template <typename T, int VECTORS> __device__ __forceinline__ void normalize_in_ring(const rms_norm_args<T> &a)
{
    constexpr int STRIDE = 32 * vector_size<T>;
    constexpr int SLOTS = 13; // per thread
    static_assert(SLOTS < 2 * VECTORS);
    extern __shared__ __align__(128) uint4 ring[]; // [warps][SLOTS][32], in whole lines for the copies
    __shared__ group_buffer<acc_t<T>> buffers[2];
    const int n = static_cast<int>(a.n);
    const int first = first_of_thread<T, VECTORS>();
    uint4 *const slots = ring + threadIdx.x / 32 * SLOTS * 32 + threadIdx.x % 32;

    uint4 weight[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        weight[k] = load_vector<T, true, false>(a.weight, n, first + k * STRIDE);
    }
    int64_t row = blockIdx.x;
    const int rounds = static_cast<int>((a.rows - row - 1) / gridDim.x) + 1;
    const int64_t row_stride = int64_t{gridDim.x} * n;
    const T *x = a.x + row * n + first;
    T *y = a.y + row * n + first;
    auto fetch = [&](int slot, int vector, int left) { // vectors and rounds that are left count from the present row
        const int k = vector % VECTORS;
        if (left > vector / VECTORS && first + k * STRIDE < n) {
            copy_async(slots + slot * 32, x + vector / VECTORS * row_stride + k * STRIDE);
        }
    };
#pragma unroll
    for (int i = 0; i < SLOTS; i++) {
        fetch(i, i, rounds);
        if (i == VECTORS - 1) {
            commit_copies();
        }
    }
    commit_copies();
    int start = 0; // slot of the row's first vector
    for (int round = 0; round < rounds; round++, row += gridDim.x) {
        await_copies<1>();
        auto slot = [&](int k) { return start + k < SLOTS ? start + k : start + k - SLOTS; };
        acc_t<T> squares = 0;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (first + k * STRIDE < n) {
                squares += sum_of_squares<T>(slots[slot(k) * 32]);
            }
        }
        const acc_t<T> rstd = row_rstd(a, group_sum(squares, whole_block(), buffers, 0, round));
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (first + k * STRIDE < n) {
                __stcs(reinterpret_cast<uint4 *>(y + k * STRIDE), scaled<T>(slots[slot(k) * 32], weight[k], rstd));
            }
            fetch(slot(k), k + SLOTS, rounds - round);
            if (k + SLOTS == 2 * VECTORS - 1) {
                commit_copies(); // the next row is on its way
            }
        }
        commit_copies();
        start = slot(VECTORS);
        x += row_stride;
        y += row_stride;
        if (a.rstd != nullptr && threadIdx.x == 0) {
            a.rstd[row] = rstd;
        }
    }
}

template <typename T> __device__ __forceinline__ void normalize_in_two_reads(const rms_norm_args<T> &a)
{
    __shared__ group_buffer<acc_t<T>> buffers[2];
    constexpr int SIZE = vector_size<T>;
    const int64_t row = blockIdx.x;
    const T *x_row = a.x + row * a.n;
    const int64_t first = int64_t{threadIdx.x} * SIZE - alignment_shift(x_row);

    acc_t<T> squares = 0;
#pragma unroll 1
    for (int64_t i = first; i < a.n; i += blockDim.x * SIZE) {
        squares += sum_of_squares<T>(load_vector<T, false, false>(x_row, a.n, i));
    }
    const acc_t<T> rstd = row_rstd(a, group_sum(squares, whole_block(), buffers, 0, 0));
#pragma unroll 1
    for (int64_t i = first; i < a.n; i += blockDim.x * SIZE) {
        const uint4 x = load_vector<T, false, true>(x_row, a.n, i);
        const uint4 weight = load_vector<T, false, false>(a.weight, a.n, i);
        store_vector<T, false>(a.y + row * a.n, a.n, i, scaled<T>(x, weight, rstd));
    }
    if (a.rstd != nullptr && threadIdx.x == 0) {
        a.rstd[row] = rstd;
    }
}

template <typename T, bool ALIGNED, int VECTORS, int ROWS> __device__ void rms_norm(const rms_norm_args<T> &a)
{
    if constexpr (VECTORS == 0) {
        normalize_in_two_reads(a);
    } else if constexpr (ROWS == 0 && VECTORS == 8) {
        normalize_in_ring<T, VECTORS>(a);
    } else if constexpr (ROWS == 0) {
        normalize_by_blocks<T, ALIGNED, VECTORS>(a);
    } else {
        normalize_by_lanes<T, ALIGNED, VECTORS, ROWS>(a);
    }
}
