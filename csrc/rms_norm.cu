// y = x * rstd * weight with rstd = 1 / sqrt(mean(x^2) + eps), for each row: https://arxiv.org/abs/1910.07467,
// equation 4.
//
// A row is read once, in 16-byte vectors, and stays in registers between the sum and the product. Short rows share a
// warp, several rows in flight per thread; longer ones take a block, the longest a cluster of blocks. The weight is
// loaded before the sum is known. A row that fits nowhere is read twice.
//
// ALIGNED: every row is made of whole, aligned vectors.
// VECTORS: vectors of a row that a thread holds; 0 reads the row twice.
// ROWS:    rows that a thread works on at once, a.lanes lanes each; 0 gives a row to a block or cluster. Short rows
//          that are not ALIGNED take a warp each, and VECTORS counts elements.
#include "rms_norm.cuh"

#include "reduce.cuh"
#include "vector.cuh"

template <typename T> __device__ __forceinline__ acc_t<T> sum_of_squares(uint4 vector) {
    acc_t<T> values[vector_size<T>];
    unpack<T>(vector, values);
    acc_t<T> sum = 0;
#pragma unroll
    for (int i = 0; i < vector_size<T>; i++) {
        sum += values[i] * values[i];
    }
    return sum;
}

template <typename T> __device__ __forceinline__ uint4 scaled(uint4 vector, uint4 weight, acc_t<T> rstd) {
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

template <typename T> __device__ __forceinline__ acc_t<T> row_rstd(const rms_norm_args<T> &a, acc_t<T> squares) {
    return rsqrt(squares * (acc_t<T>(1) / static_cast<acc_t<T>>(a.n)) + a.eps);
}

template <typename T, int VECTORS, int ROWS>
__device__ __forceinline__ void normalize_by_lanes(const rms_norm_args<T> &a) {
    constexpr int SIZE = vector_size<T>;
    const int n = static_cast<int>(a.n);
    const int lanes = static_cast<int>(a.lanes);
    const int groups = blockDim.x / lanes;
    const int lane = threadIdx.x % lanes;
    const int first = lane * SIZE;
    const int stride = lanes * SIZE;
    const int64_t first_row = int64_t{blockIdx.x} * groups * ROWS + threadIdx.x / lanes;

    uint4 x[ROWS][VECTORS];
    uint4 weight[VECTORS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int64_t row = first_row + r * groups;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            x[r][k] = make_uint4(0, 0, 0, 0);
            if (row < a.rows) {
                x[r][k] = load_vector<T, true>(a.x + row * n, n, first + k * stride);
            }
        }
    }
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        weight[k] = load_vector<T, true>(a.weight, n, first + k * stride);
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
                store_vector<T, true>(a.y + row * n, n, first + k * stride, scaled<T>(x[r][k], weight[k], rstd));
            }
            if (a.rstd != nullptr && lane == 0) {
                a.rstd[row] = rstd;
            }
        }
    }
}

// A warp for each row, element by element: nothing to find out about alignment.
template <typename T, int ELEMENTS> __device__ __forceinline__ void normalize_elements(const rms_norm_args<T> &a) {
    const int n = static_cast<int>(a.n);
    const int lane = threadIdx.x % 32;
    const int64_t row = int64_t{blockIdx.x} * (blockDim.x / 32) + threadIdx.x / 32;
    if (row >= a.rows) {
        return;
    }
    acc_t<T> x[ELEMENTS];
    acc_t<T> weight[ELEMENTS];
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        const int column = lane + k * 32;
        x[k] = column < n ? to_acc(a.x[row * n + column]) : acc_t<T>(0);
        weight[k] = column < n ? to_acc(a.weight[column]) : acc_t<T>(0);
    }
    acc_t<T> squares = 0;
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        squares += x[k] * x[k];
    }
    const acc_t<T> rstd = row_rstd(a, warp_sum(squares));
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        const int column = lane + k * 32;
        if (column < n) {
            a.y[row * n + column] = from_acc<T>(x[k] * rstd * weight[k]);
        }
    }
    if (a.rstd != nullptr && lane == 0) {
        a.rstd[row] = rstd;
    }
}

template <typename T, bool ALIGNED, int VECTORS>
__device__ __forceinline__ void normalize_by_blocks(const rms_norm_args<T> &a) {
    __shared__ group_buffer<acc_t<T>> buffers[2];
    constexpr int SIZE = vector_size<T>;
    constexpr int STRIDE = 32 * SIZE; // a warp's vectors are neighbours
    const bool alone = VECTORS == 1;  // such rows need no cluster
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;
    const warp_group group = {warps, warp, 0, alone ? 1 : cluster_blocks(), alone ? 0 : cluster_rank()};
    if (group.blocks > 1) {
        announce_block(buffers);
    }
    const int64_t row = alone ? blockIdx.x : cluster_index();
    const int n = static_cast<int>(a.n);
    const T *x_row = a.x + row * n;
    const int first =
        ((group.rank * warps + warp) * VECTORS * 32 + int(threadIdx.x) % 32) * SIZE - row_shift<T, ALIGNED>(x_row, n);

    uint4 x[VECTORS];
    uint4 weight[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        x[k] = load_vector<T, ALIGNED>(x_row, n, first + k * STRIDE);
    }
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        weight[k] = load_vector<T, ALIGNED>(a.weight, n, first + k * STRIDE);
    }
    acc_t<T> squares = 0;
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        squares += sum_of_squares<T>(x[k]);
    }
    if (group.blocks > 1) {
        await_cluster();
    }
    const acc_t<T> rstd = row_rstd(a, cluster_sum(squares, group, buffers, 0, 0));
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        store_vector<T, ALIGNED>(a.y + row * n, n, first + k * STRIDE, scaled<T>(x[k], weight[k], rstd));
    }
    if (a.rstd != nullptr && group.rank == 0 && threadIdx.x == 0) {
        a.rstd[row] = rstd;
    }
}

template <typename T> __device__ __forceinline__ void normalize_in_two_reads(const rms_norm_args<T> &a) {
    constexpr int LOADS = 8; // in flight per thread
    __shared__ group_buffer<acc_t<T>> buffers[2];
    const int64_t row = blockIdx.x;
    acc_t<T> squares = 0;
    acc_t<T> rstd = 0;
#pragma unroll 1
    for (int read = 0; read < 2; read++) {
#pragma unroll 1
        for (int64_t first = threadIdx.x; first < a.n; first += LOADS * blockDim.x) {
            acc_t<T> x[LOADS], weight[LOADS];
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = min(first + k * blockDim.x, a.n - 1); // no branches between loads
                x[k] = to_acc(a.x[row * a.n + i]);
                weight[k] = to_acc(a.weight[i]);
            }
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = first + k * blockDim.x;
                squares += i < a.n ? x[k] * x[k] : acc_t<T>(0);
                if (read == 1 && i < a.n) {
                    a.y[row * a.n + i] = from_acc<T>(x[k] * rstd * weight[k]);
                }
            }
        }
        if (read == 0) {
            rstd = row_rstd(a, group_sum(squares, whole_block(), buffers, 0, 0));
        }
    }
    if (a.rstd != nullptr && threadIdx.x == 0) {
        a.rstd[row] = rstd;
    }
}

template <typename T, bool ALIGNED, int VECTORS, int ROWS> __device__ void rms_norm(const rms_norm_args<T> &a) {
    if constexpr (VECTORS == 0) {
        normalize_in_two_reads(a);
    } else if constexpr (ROWS == 0) {
        normalize_by_blocks<T, ALIGNED, VECTORS>(a);
    } else if constexpr (ALIGNED) {
        normalize_by_lanes<T, VECTORS, ROWS>(a);
    } else {
        normalize_elements<T, VECTORS>(a);
    }
}
