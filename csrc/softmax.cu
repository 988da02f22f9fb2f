// y = exp(s - max(s)) / sum(exp(s - max(s))) over each row of s = scale * x + bias; columns behind the causal limit are
// left out. Rows in which nothing is left are zeros.
//
// A row is read once and stays in registers, as exponentials relative to the largest value that its lanes or its warp
// hold; warps then agree on (largest, sum) in one exchange, and each has one factor to multiply by. Short rows share a
// warp, several in flight per thread; longer ones take a block. The longest take a cluster of blocks, and stay in
// shared memory. Short rows that are no whole vectors go in runs, or pass through it. A row that fits nowhere is read
// twice.
//
// ALIGNED: every row is made of whole, aligned vectors.
// VECTORS: vectors of a row that a thread holds, more than 4 in shared memory; 0 reads the row twice.
// ROWS:    rows that a thread works on at once, a.lanes lanes each; 0 gives a row to a block or cluster. Rows that are
//          not ALIGNED pass through shared memory, a.stage_lanes lanes each; with 2 they go in runs: row_runs.cuh.
#include "softmax.cuh"

#include "max_sum.cuh"
#include "row_vectors.cuh"
#include "run_shares.cuh"
#include "staged_rows.cuh"

// 0 where there is no such row.
template <typename T> __device__ __forceinline__ int row_limit(const softmax_args<T> &a, int64_t row) {
    return row < a.rows ? static_cast<int>(causal_limit(a.causal, row, a.m, a.n)) : 0;
}

// The exponent of a value is rate * (value - largest), in powers of two. Without a bias values are those of x, the sign
// of scale apart, so that it is differences that are scaled. A rate of 0 would make a NaN of what is left out.
template <typename T> __device__ __forceinline__ acc_t<T> row_rate(const softmax_args<T> &a) {
    const acc_t<T> smallest = sizeof(acc_t<T>) == 4 ? acc_t<T>(1.2e-38) : acc_t<T>(2.3e-308);
    const acc_t<T> rate = a.bias != nullptr ? LOG2_E<acc_t<T>> : fabs(a.scale) * LOG2_E<acc_t<T>>;
    return rate == 0 ? smallest : rate;
}

// Or null.
template <typename T> __device__ __forceinline__ const T *bias_row(const softmax_args<T> &a, int64_t row) {
    return a.bias == nullptr ? nullptr : a.bias + row_offset(row, a.bias_dim, a.bias_size, a.bias_stride);
}

// Values of a row out of the vectors that a thread holds of x, -infinity where a column does not take part.
template <typename T, bool ALIGNED, int VECTORS>
__device__ __forceinline__ void row_values(const softmax_args<T> &a, const uint4 (&x)[VECTORS], const T *bias,
                                           int limit, int first, int stride,
                                           acc_t<T> (&values)[VECTORS][vector_size<T>]) {
    constexpr int SIZE = vector_size<T>;
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        unpack<T>(x[k], values[k]);
    }
    if (bias != nullptr) {
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

// What a thread holds of a row: see row_part.cuh.
template <typename T_, bool ALIGNED, int VECTORS> struct softmax_row {
    using T = T_;
    using shared = max_sum<acc_t<T>>;
    using part = row_part<T, ALIGNED>;

    uint4 x[VECTORS];
    int limit;

    struct columns {
        __device__ __forceinline__ void load(const softmax_args<T> &, const part &) {}
    };

    __device__ __forceinline__ void load(const softmax_args<T> &a, int64_t row, const part &p) {
        const int n = static_cast<int>(a.n);
        limit = row_limit(a, row);
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            x[k] = load_row_vector<T, ALIGNED>(a.x, a.rows * n, a.x + row * n, limit, p.column(k));
        }
    }
    template <typename Group>
    __device__ __forceinline__ void finish(const softmax_args<T> &a, int64_t row, const part &p, const columns &,
                                           Group &group) {
        const int n = static_cast<int>(a.n);
        const acc_t<T> rate = row_rate(a);
        acc_t<T> values[VECTORS][vector_size<T>];
        row_values<T, ALIGNED, VECTORS>(a, x, bias_row(a, row), limit, p.first, p.stride, values);
        const shared of_lanes = exponentials(values, rate, lanes_of(group));
        const shared all = group_max_sum(of_lanes, rate, group);
        store_row<T, ALIGNED, VECTORS>(a.y + row * n, p.n, p.first, p.stride, of_lanes.share_of(all, rate), values);
    }
};

// A row in shared memory. Its exponentials are computed twice.
template <typename T_, bool ALIGNED, int VECTORS> struct softmax_row_in_shared {
    using T = T_;
    using A = acc_t<T>;
    using shared = max_sum<A>;
    using part = row_part<T, ALIGNED>;
    static constexpr int SIZE = vector_size<T>;

    const uint4 *slots; // 32 apart

    struct columns {
        __device__ __forceinline__ void load(const softmax_args<T> &, const part &) {}
    };

    __device__ __forceinline__ void load(const softmax_args<T> &, int64_t, const part &) {}

    __device__ __forceinline__ void finish(const softmax_args<T> &a, int64_t row, const part &p, const columns &,
                                           block_group<shared> &group) const {
        const A rate = row_rate(a);
        const T *bias = bias_row(a, row);
        const int limit = row_limit(a, row);
        auto values_of = [&](int k, A(&values)[SIZE]) {
            const uint4 x[1] = {slots[k * 32]};
            A vector[1][SIZE];
            row_values<T, ALIGNED, 1>(a, x, bias, limit, p.column(k), 0, vector);
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                values[i] = vector[0][i];
            }
        };
        const max_sum<A> of_warp = sum_exponentials<A, VECTORS, SIZE>(values_of, rate);
        const max_sum<A> all = group_max_sum(of_warp, rate, group);
        const A base = all.base();
        const A factor = all.sum == 0 ? A(0) : reciprocal(all.sum);
        forget_shared();
#pragma unroll 2
        for (int k = 0; k < VECTORS; k++) {
            A values[SIZE];
            values_of(k, values);
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                values[i] = power_of_two((values[i] - base) * rate) * factor;
            }
            p.store(a.y + row * p.n, k, values);
        }
    }
};

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
    const staged_part p(a);
    const T *source = a.x + p.start;
    stage_in(shared, source, p.count);
    __syncthreads();

    const acc_t<T> rate = row_rate(a);
    const int limit = row_limit(a, p.row);
    const T *bias = p.row < a.rows ? bias_row(a, p.row) : nullptr;
    T *elements = shared.at(source) + p.offset;
    acc_t<T> values[1][ELEMENTS];
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        values[0][k] = minus_infinity<acc_t<T>>();
        if (p.reaches(k)) {
            const int column = p.column(k);
            values[0][k] = column < limit ? row_value(a, elements[column], bias, column) : values[0][k];
        }
    }
    const max_sum<acc_t<T>> all = exponentials(values, rate, p.lanes);
    const acc_t<T> factor = all.share_of(all, rate);
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        const int column = p.column(k);
        if (column < p.n && p.row < a.rows) {
            elements[column] = from_acc<T>(values[0][k] * factor);
        }
    }
    stage_out(shared, source, a.y + p.start, p.count);
}

// Without a bias or a causal limit.
template <int VECTORS, typename T> __device__ __forceinline__ void softmax_of_runs(const softmax_args<T> &a) {
    using A = acc_t<T>;
    constexpr int SIZE = vector_size<T>;
    row_run<T, VECTORS> run(a.rows, a.n, a.slab, is_aligned(a.x) && is_aligned(a.y));
    const A rate = row_rate(a);
    const max_sum_of_shares<A> combine = {rate};
    run.for_each([&] {
        uint4 x[VECTORS];
        run.load(a.x, x);
        A values[VECTORS][SIZE];
        max_sum<A> firsts[VECTORS], nexts[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            unpack<T>(x[k], values[k]);
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                values[k][i] = a.scale < 0 ? -values[k][i] : values[k][i];
            }
        }
        find_exponentials(run, values, rate, firsts, nexts);
        A first_max[VECTORS], next_max[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            first_max[k] = firsts[k].max;
            next_max[k] = nexts[k].max;
        }
        run.put_together(firsts, nexts, combine);
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            const A first_share = max_sum<A>{first_max[k], A(0)}.share_of(firsts[k], rate);
            const A next_share = max_sum<A>{next_max[k], A(0)}.share_of(nexts[k], rate);
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                values[k][i] *= run.first(i) ? first_share : next_share;
            }
            x[k] = pack<T>(values[k]);
        }
        run.store(a.y, x);
    });
}

template <typename T> __device__ __forceinline__ void softmax_in_two_reads(const softmax_args<T> &a) {
    constexpr int LOADS = 8; // in flight per thread
    __shared__ group_buffer<max_sum<acc_t<T>>> buffers[2];
    const int64_t row = blockIdx.x;
    const int64_t limit = causal_limit(a.causal, row, a.m, a.n);
    const acc_t<T> rate = row_rate(a);
    const T *x = a.x + row * a.n;
    const T *bias = bias_row(a, row);
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
        own = combined(own, exponentials(values, rate, 1), rate);
    }
    const max_sum<acc_t<T>> all = cluster_max_sum(lane_max_sum(own, rate, 32), rate, whole_block(), buffers, 0, 0);
    const acc_t<T> inverse = all.sum == 0 ? acc_t<T>(0) : reciprocal(all.sum);
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
    if constexpr (!ALIGNED && ROWS == 2) {
        softmax_of_runs<VECTORS>(a);
    } else if constexpr (VECTORS == 0) {
        softmax_in_two_reads(a);
    } else if constexpr (ROWS == 0) {
        if constexpr (VECTORS <= 4) {
            rows_by_blocks<softmax_row<T, ALIGNED, VECTORS>, VECTORS, ALIGNED>(a, a.x);
        } else {
            rows_in_shared<softmax_row_in_shared<T, ALIGNED, VECTORS>, VECTORS>(a, {a.x});
        }
    } else if constexpr (ALIGNED) {
        rows_by_lanes<softmax_row<T, true, VECTORS>, ROWS>(a, static_cast<int>(a.lanes));
    } else {
        softmax_of_staged_rows(a);
    }
}
