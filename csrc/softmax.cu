// y = exp(s - max(s)) / sum(exp(s - max(s))) over each row of s = scale * x + bias; columns behind the causal limit are
// left out. Rows in which nothing is left are zeros.
//
// A row is read once and stays in registers, as exponentials relative to the largest value that its thread holds;
// threads then agree on (largest, sum) in one exchange, and each has one factor to multiply by. Short rows share a
// warp, several in flight per thread; longer ones take a block, the longest a cluster of blocks. Short rows that are
// not aligned pass through shared memory. A row that fits nowhere is read twice.
//
// ALIGNED: every row is made of whole, aligned vectors.
// VECTORS: vectors of a row that a thread holds; 0 reads the row twice.
// ROWS:    rows that a thread works on at once, a.lanes lanes each; 0 gives a row to a block or cluster. Rows that are
//          not ALIGNED pass through shared memory, a.stage_lanes lanes each.
#include "softmax.cuh"

#include "max_sum.cuh"
#include "row_vectors.cuh"
#include "staged_rows.cuh"

template <typename T> __device__ __forceinline__ int row_limit(const softmax_args<T> &a, int64_t row) {
    return static_cast<int>(causal_limit(a.causal, row, a.m, a.n));
}

// The exponent of a value is rate * (value - largest), in powers of two. Without a bias values are those of x, the sign
// of scale apart, so that it is differences that are scaled. A rate of 0 would make a NaN of what is left out.
template <typename T> __device__ __forceinline__ acc_t<T> row_rate(const softmax_args<T> &a) {
    const acc_t<T> smallest = sizeof(acc_t<T>) == 4 ? acc_t<T>(1.2e-38) : acc_t<T>(2.3e-308);
    const acc_t<T> rate = a.bias != nullptr ? LOG2_E<acc_t<T>> : fabs(a.scale) * LOG2_E<acc_t<T>>;
    return rate == 0 ? smallest : rate;
}

template <typename T> __device__ __forceinline__ const T *bias_row(const softmax_args<T> &a, int64_t row) {
    return a.bias + row_offset(row, a.bias_dim, a.bias_size, a.bias_stride);
}

// Values of a row out of the vectors that a thread holds of x, -infinity where a column does not take part.
template <typename T, bool ALIGNED, int VECTORS>
__device__ __forceinline__ void row_values(const softmax_args<T> &a, const uint4 (&x)[VECTORS], int64_t row, int first,
                                           int stride, acc_t<T> (&values)[VECTORS][vector_size<T>]) {
    constexpr int SIZE = vector_size<T>;
    const int limit = row_limit(a, row);
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        unpack<T>(x[k], values[k]);
    }
    if (a.bias != nullptr) {
        const T *bias = bias_row(a, row);
        uint4 vectors[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            vectors[k] = load_vector<T, ALIGNED>(bias, limit, first + k * stride);
        }
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            acc_t<T> added[SIZE];
            unpack<T>(vectors[k], added);
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                values[k][i] = a.scale * values[k][i] + added[i];
            }
        }
    } else if (a.scale < 0) {
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                values[k][i] = -values[k][i];
            }
        }
    }
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        const int column = first + k * stride;
        if (column + SIZE > limit || (!ALIGNED && column < 0)) {
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                const bool inside = column + i >= 0 && column + i < limit;
                values[k][i] = inside ? values[k][i] : minus_infinity<acc_t<T>>();
            }
        }
    }
}

// What a thread's exponentials are multiplied by.
template <typename A> __device__ __forceinline__ A thread_factor(const max_sum<A> &own, const max_sum<A> &all, A rate) {
    return all.sum == 0 ? A(0) : own.rebased(all.base(), rate) / all.sum;
}

template <typename T, bool ALIGNED, int VECTORS>
__device__ __forceinline__ void store_row(T *y, int n, int first, int stride, acc_t<T> factor,
                                          acc_t<T> (&values)[VECTORS][vector_size<T>]) {
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
#pragma unroll
        for (int i = 0; i < vector_size<T>; i++) {
            values[k][i] *= factor;
        }
        store_vector<T, ALIGNED>(y, n, first + k * stride, pack<T>(values[k]));
    }
}

template <typename T, int VECTORS, int ROWS>
__device__ __forceinline__ void softmax_by_lanes(const softmax_args<T> &a) {
    constexpr int SIZE = vector_size<T>;
    const int n = static_cast<int>(a.n);
    const int lanes = static_cast<int>(a.lanes);
    const int groups = blockDim.x / lanes;
    const int first = threadIdx.x % lanes * SIZE;
    const int stride = lanes * SIZE;
    const int64_t first_row = int64_t{blockIdx.x} * groups * ROWS + threadIdx.x / lanes;
    const acc_t<T> rate = row_rate(a);

    uint4 x[ROWS][VECTORS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int64_t row = first_row + r * groups;
        const int limit = row < a.rows ? row_limit(a, row) : 0;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            x[r][k] = load_vector<T, true>(a.x + row * n, limit, first + k * stride);
        }
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const int64_t row = first_row + r * groups;
        acc_t<T> values[VECTORS][SIZE] = {};
        if (row < a.rows) {
            row_values<T, true, VECTORS>(a, x[r], row, first, stride, values);
        }
        const max_sum<acc_t<T>> own = exponentials(values, rate);
        const max_sum<acc_t<T>> all = lane_max_sum(own, rate, lanes);
        if (row < a.rows) {
            store_row<T, true, VECTORS>(a.y + row * n, n, first, stride, thread_factor(own, all, rate), values);
        }
    }
}

template <typename T, bool ALIGNED, int VECTORS>
__device__ __forceinline__ void softmax_by_blocks(const softmax_args<T> &a) {
    __shared__ group_buffer<max_sum<acc_t<T>>> buffers[2];
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
    const int limit = row_limit(a, row);
    const T *x_row = a.x + row * n;
    const int first =
        ((group.rank * warps + warp) * VECTORS * 32 + int(threadIdx.x) % 32) * SIZE - row_shift<T, ALIGNED>(x_row, n);
    const acc_t<T> rate = row_rate(a);

    uint4 x[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        x[k] = load_row_vector<T, ALIGNED>(a.x, a.rows * n, x_row, limit, first + k * STRIDE);
    }
    acc_t<T> values[VECTORS][SIZE];
    row_values<T, ALIGNED, VECTORS>(a, x, row, first, STRIDE, values);
    const max_sum<acc_t<T>> own = exponentials(values, rate);
    if (group.blocks > 1) {
        await_cluster();
    }
    const max_sum<acc_t<T>> all = cluster_max_sum(own, rate, group, buffers, 0, 0);
    store_row<T, ALIGNED, VECTORS>(a.y + row * n, n, first, STRIDE, thread_factor(own, all, rate), values);
}

// One value of a row, as row_values has them.
template <typename T>
__device__ __forceinline__ acc_t<T> row_value(const softmax_args<T> &a, T x, const T *bias, int64_t column) {
    const acc_t<T> value = to_acc(x);
    if (bias != nullptr) {
        return a.scale * value + to_acc(bias[column]);
    }
    return a.scale < 0 ? -value : value;
}

template <typename T> __device__ __forceinline__ void softmax_of_staged_rows(const softmax_args<T> &a) {
    constexpr int ELEMENTS = stage_elements<T>;
    __shared__ stage<T> shared;
    const int n = static_cast<int>(a.n);
    const int lanes = static_cast<int>(a.stage_lanes);
    const int groups = STAGE_THREADS / lanes;
    const int group = threadIdx.x / lanes;
    const int lane = threadIdx.x % lanes;
    const int64_t first_row = int64_t{blockIdx.x} * groups;
    const int count = static_cast<int>(min(int64_t{groups}, a.rows - first_row)) * n;
    const T *source = a.x + first_row * n;
    stage_in(shared, source, count);
    __syncthreads();

    const acc_t<T> rate = row_rate(a);
    const int64_t row = first_row + group;
    const int limit = row < a.rows ? row_limit(a, row) : 0;
    const T *bias = a.bias != nullptr && row < a.rows ? bias_row(a, row) : nullptr;
    T *elements = shared.at(source) + group * n;
    acc_t<T> values[1][ELEMENTS];
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        const int column = lane + k * lanes;
        values[0][k] = column < limit ? row_value(a, elements[column], bias, column) : minus_infinity<acc_t<T>>();
    }
    const max_sum<acc_t<T>> own = exponentials(values, rate);
    const acc_t<T> factor = thread_factor(own, lane_max_sum(own, rate, lanes), rate);
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        const int column = lane + k * lanes;
        if (column < n && row < a.rows) {
            elements[column] = from_acc<T>(values[0][k] * factor);
        }
    }
    stage_out(shared, source, a.y + first_row * n, count);
}

template <typename T> __device__ __forceinline__ void softmax_in_two_reads(const softmax_args<T> &a) {
    constexpr int LOADS = 8; // in flight per thread
    __shared__ group_buffer<max_sum<acc_t<T>>> buffers[2];
    const int64_t row = blockIdx.x;
    const int64_t limit = causal_limit(a.causal, row, a.m, a.n);
    const acc_t<T> rate = row_rate(a);
    const T *x = a.x + row * a.n;
    const T *bias = a.bias != nullptr ? bias_row(a, row) : nullptr;
    T *y = a.y + row * a.n;
    acc_t<T> values[1][LOADS];
    auto load = [&](int64_t first) {
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            const int64_t i = min(first + k * blockDim.x, limit - 1); // no branches between loads
            values[0][k] = row_value(a, x[i], bias, i);
        }
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            values[0][k] = first + k * blockDim.x < limit ? values[0][k] : minus_infinity<acc_t<T>>();
        }
    };
    max_sum<acc_t<T>> own = empty_max_sum<acc_t<T>>();
#pragma unroll 1
    for (int64_t first = threadIdx.x; first < limit; first += LOADS * blockDim.x) {
        load(first);
        own = combined(own, exponentials(values, rate), rate);
    }
    const max_sum<acc_t<T>> all = cluster_max_sum(own, rate, whole_block(), buffers, 0, 0);
    const acc_t<T> inverse = all.sum == 0 ? acc_t<T>(0) : acc_t<T>(1) / all.sum;
#pragma unroll 1
    for (int64_t first = threadIdx.x; first < limit; first += LOADS * blockDim.x) {
        load(first);
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            const int64_t i = first + k * blockDim.x;
            if (i < limit) {
                y[i] = from_acc<T>(power_of_two((values[0][k] - all.base()) * rate) * inverse);
            }
        }
    }
    for (int64_t i = limit + threadIdx.x; i < a.n; i += blockDim.x) {
        y[i] = from_acc<T>(acc_t<T>(0));
    }
}

template <typename T, bool ALIGNED, int VECTORS, int ROWS> __device__ void softmax(const softmax_args<T> &a) {
    if constexpr (VECTORS == 0) {
        softmax_in_two_reads(a);
    } else if constexpr (ROWS == 0) {
        softmax_by_blocks<T, ALIGNED, VECTORS>(a);
    } else if constexpr (ALIGNED) {
        softmax_by_lanes<T, VECTORS, ROWS>(a);
    } else {
        softmax_of_staged_rows(a);
    }
}
