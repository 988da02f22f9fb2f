// Cross entropy of rows of logits z against one target each, with lse = log(sum(exp(z))) and an even share s of the
// target for all columns:
//     loss = lse - (1 - s) z[target] - s mean(z) + z_loss lse^2
//     gradient[j] = softmax(z)[j] (1 + 2 z_loss lse) - (1 - s) [j == target] - s / n, times the row's factor
// The values of targets are data on the device, so a launch cannot check them: the row of one that is neither in [0, n)
// nor the ignored one gets NaN, and no memory is read for it.
//
// A row is read once. Where the gradient is wanted, its exponentials stay in registers until their sum is known, and
// the gradient takes the place of the logits. How rows are shared among threads is as in softmax.cu.
//
// ALIGNED: every row is made of whole, aligned vectors.
// VECTORS: vectors of a row that a thread holds; 0 reads the row element by element, twice for the gradient.
// ROWS:    rows that a thread works on at once, `lanes` lanes each; 0 gives a row to a block or cluster. Rows that are
//          not ALIGNED pass through shared memory, `stage_lanes` lanes each.
#pragma once

#include "max_sum.cuh"
#include "row_part.cuh"
#include "staged_rows.cuh"

template <typename T> struct cross_entropy_rows {
    const T *logits;
    const int64_t *target;
    acc_t<T> *loss;
    acc_t<T> *lse;          // or null
    T *gradient;            // the logits themselves, or null
    const acc_t<T> *factor; // of the gradient of each row, or null for 1
    int64_t factor_dim;
    const int64_t *factor_size;
    const int64_t *factor_stride;
    int64_t rows, n, lanes, stage_lanes;
    int64_t ignore_index;
    acc_t<T> smoothing;
    acc_t<T> z_loss;

    __device__ __forceinline__ acc_t<T> row_factor(int64_t row) const {
        return factor != nullptr ? factor[element_offset(row, factor_dim, factor_size, factor_stride)] : acc_t<T>(1);
    }
};

// The column of the target of a row, or NO_COLUMN, which comes before every column.
constexpr int64_t NO_COLUMN = INT32_MIN;
struct row_target {
    int64_t column;
    bool ignored;
};

template <typename T> __device__ __forceinline__ row_target target_of_row(const cross_entropy_rows<T> &a, int64_t row) {
    const int64_t target = row < a.rows ? a.target[row] : a.ignore_index;
    const bool ignored = target == a.ignore_index;
    return {!ignored && target >= 0 && target < a.n ? target : NO_COLUMN, ignored};
}

// What a thread adds to the logit that is expected of the target: its part of z[target], and of the mean.
template <typename T>
__device__ __forceinline__ acc_t<T> expected_part(const cross_entropy_rows<T> &a, acc_t<T> at_target, acc_t<T> total) {
    const acc_t<T> expected = (1 - a.smoothing) * at_target;
    return a.smoothing != 0 ? expected + a.smoothing * (total / static_cast<acc_t<T>>(a.n)) : expected;
}

// The gradient of a row is scale * exponential - share, and `hit` less at the target; without a target it is -share.
template <typename A> struct row_gradient {
    A scale;
    A share;
    A hit;

    __device__ __forceinline__ A at(int64_t column, A exponential, const row_target &target) const {
        const A value = target.column == NO_COLUMN ? -share : scale * exponential - share;
        return column == target.column ? value - hit : value;
    }
};

template <typename T>
__device__ __forceinline__ row_gradient<acc_t<T>> gradient_of_row(const cross_entropy_rows<T> &a, int64_t row,
                                                                  const row_target &target, acc_t<T> lse) {
    using A = acc_t<T>;
    if (target.column == NO_COLUMN) {
        return {A(0), target.ignored ? A(0) : static_cast<A>(NAN), A(0)};
    }
    const A factor = a.row_factor(row);
    return {factor * (1 + 2 * a.z_loss * lse), factor * (a.smoothing / static_cast<A>(a.n)),
            factor * (1 - a.smoothing)};
}

template <typename A> __device__ __forceinline__ A lse_of(const max_sum<A> &all) { return all.base() + log(all.sum); }

// By one thread of the row.
template <typename T>
__device__ __forceinline__ void store_loss(const cross_entropy_rows<T> &a, int64_t row, const row_target &target,
                                           acc_t<T> lse, acc_t<T> expected) {
    using A = acc_t<T>;
    A loss = lse - expected + a.z_loss * lse * lse;
    if (target.column == NO_COLUMN) {
        loss = target.ignored ? A(0) : static_cast<A>(NAN);
    }
    a.loss[row] = loss;
    if (a.lse != nullptr) {
        a.lse[row] = lse;
    }
}

// Logits of a row out of the vectors that a thread holds, -infinity outside the row. Returns its part of the expected
// one.
template <bool ALIGNED, int VECTORS, typename T>
__device__ __forceinline__ acc_t<T> row_logits(const cross_entropy_rows<T> &a, const uint4 (&vectors)[VECTORS], int n,
                                               int first, int stride, int target,
                                               acc_t<T> (&values)[VECTORS][vector_size<T>]) {
    using A = acc_t<T>;
    constexpr int SIZE = vector_size<T>;
    A at_target = 0;
    A total = 0;
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        unpack<T>(vectors[k], values[k]);
        const int column = first + k * stride;
        if (target >= column && target < column + SIZE) {
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                at_target = target == column + i ? values[k][i] : at_target;
            }
        }
        const bool whole = column + SIZE <= n && (ALIGNED || column >= 0);
        if (a.smoothing != 0) {
            A sum = 0; // a chain of additions for each vector
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                sum += whole || (column + i >= 0 && column + i < n) ? values[k][i] : A(0);
            }
            total += sum;
        }
        if (!whole) {
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                const bool inside = column + i >= 0 && column + i < n;
                values[k][i] = inside ? values[k][i] : minus_infinity<A>();
            }
        }
    }
    return expected_part(a, at_target, total);
}

template <typename T, bool ALIGNED, int VECTORS, typename A>
__device__ __forceinline__ void store_gradient(T *row, int n, int first, int stride,
                                               A (&values)[VECTORS][vector_size<T>], const row_gradient<A> &gradient,
                                               int target) {
    constexpr int SIZE = vector_size<T>;
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        const int column = first + k * stride;
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            values[k][i] = target == NO_COLUMN ? -gradient.share : gradient.scale * values[k][i] - gradient.share;
        }
        if (target >= column && target < column + SIZE) {
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                values[k][i] -= target == column + i ? gradient.hit : A(0);
            }
        }
        store_vector<T, ALIGNED>(row, n, column, pack<T>(values[k]));
    }
}

// The same for exponentials that are relative to a thread's own largest value.
template <typename A>
__device__ __forceinline__ row_gradient<A> gradient_of_thread(row_gradient<A> gradient, const max_sum<A> &own,
                                                              const max_sum<A> &all) {
    gradient.scale *= all.sum == 0 ? A(0) : own.rebased(all.base(), LOG2_E<A>) / all.sum;
    return gradient;
}

// What a thread holds of a row: see row_part.cuh.
template <bool GRADIENT, bool ALIGNED, int VECTORS, typename T_> struct cross_entropy_row {
    using T = T_;
    using A = acc_t<T>;
    using shared = max_sum<A>;
    using part = row_part<T, ALIGNED>;

    uint4 logits[VECTORS];
    row_target target;

    struct columns {
        __device__ __forceinline__ void load(const cross_entropy_rows<T> &, const part &) {}
    };

    __device__ __forceinline__ void load(const cross_entropy_rows<T> &a, int64_t row, const part &p) {
        target = target_of_row(a, row);
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            logits[k] = load_row_vector<T, ALIGNED, !GRADIENT>(
                a.logits, a.rows * a.n, a.logits + row * static_cast<int>(a.n), p.n, p.column(k));
        }
    }

    template <typename Group>
    __device__ __forceinline__ void finish(const cross_entropy_rows<T> &a, int64_t row, const part &p, const columns &,
                                           Group &group) {
        const int n = static_cast<int>(a.n);
        const int column = static_cast<int>(target.column);
        A values[VECTORS][vector_size<T>];
        const A found = row_logits<ALIGNED, VECTORS>(a, logits, n, p.first, p.stride, column, values);
        const max_sum<A> own = exponentials(values, LOG2_E<A>);
        const max_sum<A> all = group_max_sum(own, LOG2_E<A>, group);
        const A expected = group_plain_sum(found, group);
        const A lse = lse_of(all);
        if (row < a.rows) {
            if (group.leads()) {
                store_loss(a, row, target, lse, expected);
            }
            if constexpr (GRADIENT) {
                const row_gradient<A> gradient = gradient_of_thread(gradient_of_row(a, row, target, lse), own, all);
                store_gradient<T, ALIGNED, VECTORS>(a.gradient + row * n, n, p.first, p.stride, values, gradient,
                                                    column);
            }
        }
    }
};

template <bool GRADIENT, typename T>
__device__ __forceinline__ void cross_entropy_of_staged_rows(const cross_entropy_rows<T> &a) {
    using A = acc_t<T>;
    constexpr int ELEMENTS = stage_elements<T>;
    __shared__ stage<T> shared;
    const int n = static_cast<int>(a.n);
    const int lanes = static_cast<int>(a.stage_lanes);
    const int groups = STAGE_THREADS / lanes;
    const int group = threadIdx.x / lanes;
    const int lane = threadIdx.x % lanes;
    const int64_t first_row = int64_t{blockIdx.x} * groups;
    const int count = static_cast<int>(min(int64_t{groups}, a.rows - first_row)) * n;
    const T *source = a.logits + first_row * n;
    stage_in<T, !GRADIENT>(shared, source, count);
    const int64_t row = first_row + group;
    const row_target target = target_of_row(a, row);
    __syncthreads();

    T *elements = shared.at(source) + group * n;
    A values[1][ELEMENTS];
    A at_target = 0;
    A total = 0;
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        const int column = lane + k * lanes;
        const bool inside = column < n && row < a.rows;
        values[0][k] = inside ? to_acc(elements[column]) : minus_infinity<A>();
        at_target = column == target.column ? values[0][k] : at_target;
        total += inside ? values[0][k] : A(0);
    }
    const A expected = lane_sum(expected_part(a, at_target, total), lanes);
    const max_sum<A> own = exponentials(values, LOG2_E<A>);
    const max_sum<A> all = lane_max_sum(own, LOG2_E<A>, lanes);
    const A lse = lse_of(all);
    if (row < a.rows && lane == 0) {
        store_loss(a, row, target, lse, expected);
    }
    if constexpr (GRADIENT) {
        if (row < a.rows) {
            const row_gradient<A> gradient = gradient_of_thread(gradient_of_row(a, row, target, lse), own, all);
#pragma unroll
            for (int k = 0; k < ELEMENTS; k++) {
                const int column = lane + k * lanes;
                if (column < n) {
                    elements[column] = from_acc<T>(gradient.at(column, values[0][k], target));
                }
            }
        }
        stage_out(shared, source, a.gradient + first_row * n, count);
    }
}

template <bool GRADIENT, typename T>
__device__ __forceinline__ void cross_entropy_of_long_rows(const cross_entropy_rows<T> &a) {
    using A = acc_t<T>;
    constexpr int LOADS = 8; // in flight per thread
    __shared__ group_buffer<max_sum<A>> buffers[2];
    const int64_t row = blockIdx.x;
    const T *logits = a.logits + row * a.n;
    const row_target target = target_of_row(a, row);
    max_sum<A> own = empty_max_sum<A>();
    A at_target = 0;
    A total = 0;
#pragma unroll 1
    for (int64_t first = threadIdx.x; first < a.n; first += LOADS * blockDim.x) {
        A values[1][LOADS];
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            values[0][k] = to_acc(logits[min(first + k * blockDim.x, a.n - 1)]); // no branches between loads
        }
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            const bool inside = first + k * blockDim.x < a.n;
            at_target = first + k * blockDim.x == target.column ? values[0][k] : at_target;
            total += inside ? values[0][k] : A(0);
            values[0][k] = inside ? values[0][k] : minus_infinity<A>();
        }
        own = combined(own, exponentials(values, LOG2_E<A>), LOG2_E<A>);
    }
    const max_sum<A> all = cluster_max_sum(own, LOG2_E<A>, whole_block(), buffers, 0, 0);
    const A expected = cluster_plain_sum(expected_part(a, at_target, total), whole_block(), buffers, 0, 1);
    const A lse = lse_of(all);
    if (threadIdx.x == 0) {
        store_loss(a, row, target, lse, expected);
    }
    if constexpr (GRADIENT) {
        row_gradient<A> gradient = gradient_of_row(a, row, target, lse);
        gradient.scale *= all.sum == 0 ? A(0) : A(1) / all.sum;
        T *to = a.gradient + row * a.n;
#pragma unroll 8
        for (int64_t i = threadIdx.x; i < a.n; i += blockDim.x) {
            const A exponential = power_of_two((to_acc(logits[i]) - all.base()) * LOG2_E<A>);
            to[i] = from_acc<T>(gradient.at(i, exponential, target));
        }
    }
}

template <bool GRADIENT, bool ALIGNED, int VECTORS, int ROWS, typename T>
__device__ __forceinline__ void cross_entropy_of_rows(const cross_entropy_rows<T> &a) {
    if constexpr (VECTORS == 0) {
        cross_entropy_of_long_rows<GRADIENT>(a);
    } else if constexpr (ROWS == 0) {
        rows_by_blocks<cross_entropy_row<GRADIENT, ALIGNED, VECTORS, T>, VECTORS, VECTORS == 1>(a, a.logits);
    } else if constexpr (ALIGNED) {
        rows_by_lanes<cross_entropy_row<GRADIENT, true, VECTORS, T>, ROWS>(a, static_cast<int>(a.lanes));
    } else {
        cross_entropy_of_staged_rows<GRADIENT>(a);
    }
}
