// What is done with one row for cross_entropy_rows.cuh, which has the formulas: what all threads know of it, and what
// one thread holds, in registers or in shared memory.
#pragma once

#include "max_sum.cuh"
#include "row_part.cuh"

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
    int64_t rows, n, lanes, stage_lanes, slab;
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
    const A share = a.smoothing != 0 ? a.smoothing / static_cast<A>(a.n) : A(0);
    return {factor * (1 + 2 * a.z_loss * lse), factor * share, factor * (1 - a.smoothing)};
}

template <typename A> __device__ __forceinline__ A lse_of(const max_sum<A> &all) { return all.base() + log(all.sum); }

// Of all who share a row. Only smoothing needs more than what each of them knows.
template <typename T, typename Group>
__device__ __forceinline__ acc_t<T> row_mean(const cross_entropy_rows<T> &a, acc_t<T> total, Group &group) {
    return a.smoothing != 0 ? group_plain_sum(total, group) / static_cast<acc_t<T>>(a.n) : acc_t<T>(0);
}

// By the thread that holds the target, or where there is none by the one that leads.
template <typename T>
__device__ __forceinline__ void store_loss(const cross_entropy_rows<T> &a, int64_t row, const row_target &target,
                                           acc_t<T> at_target, acc_t<T> mean, const max_sum<acc_t<T>> &all) {
    using A = acc_t<T>;
    const A lse = lse_of(all);
    const A expected = (1 - a.smoothing) * at_target + a.smoothing * mean;
    A loss = lse - expected + a.z_loss * lse * lse;
    if (target.column == NO_COLUMN) {
        loss = target.ignored ? A(0) : static_cast<A>(NAN);
    }
    a.loss[row] = loss;
    if (a.lse != nullptr) {
        a.lse[row] = lse;
    }
}

// For the gradient, which needs it only with a z_loss.
template <typename T>
__device__ __forceinline__ acc_t<T> lse_for_gradient(const cross_entropy_rows<T> &a, const max_sum<acc_t<T>> &all) {
    return a.z_loss != 0 ? lse_of(all) : acc_t<T>(0);
}

// What a thread holds of a row: see row_part.cuh. Where a block has an aligned row, the target is picked out of what a
// thread holds; elsewhere that takes too many instructions, and the thread that holds it reads the logit again, and
// writes its gradient over what it wrote with the others.
template <bool GRADIENT, bool ALIGNED, int VECTORS, typename T_> struct cross_entropy_row {
    using T = T_;
    using A = acc_t<T>;
    using shared = max_sum<A>;
    using part = row_part<T, ALIGNED>;
    using values_type = A[VECTORS][vector_size<T>];
    static constexpr int SIZE = vector_size<T>;

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
    static __device__ __forceinline__ bool has_column(const part &p, int k, int column) {
        return column >= p.column(k) && column < p.column(k) + SIZE;
    }

    template <typename Group> static constexpr bool picks = ALIGNED && sizeof(Group) != sizeof(lane_group);

    template <typename Group>
    static __device__ __forceinline__ void pick(const part &p, int k, int column, const A (&values)[SIZE],
                                                A &at_target) {
        if constexpr (picks<Group>) {
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                at_target = column == p.column(k) + i ? values[i] : at_target;
            }
        }
    }

    // Numbers, -infinity outside the row.
    __device__ __forceinline__ void unpack_row(const part &p, int n, values_type &values) const {
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            unpack<T>(logits[k], values[k]);
            const int column = p.column(k);
            if (column + SIZE > n || (!ALIGNED && column < 0)) {
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    values[k][i] = column + i >= 0 && column + i < n ? values[k][i] : minus_infinity<A>();
                }
            }
        }
    }

    __device__ __forceinline__ A total(const part &p, int n, const values_type &values) const {
        A sum = 0;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                sum += p.column(k) + i >= 0 && p.column(k) + i < n ? values[k][i] : A(0);
            }
        }
        return sum;
    }

    template <typename Group>
    __device__ __forceinline__ void finish(const cross_entropy_rows<T> &a, int64_t row, const part &p, const columns &,
                                           Group &group) {
        const int n = static_cast<int>(a.n);
        const int column = static_cast<int>(target.column);
        const bool in_work = row < a.rows;
        values_type values;
        unpack_row(p, n, values);
        bool holds = false;
        A at_target = 0;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            if (has_column(p, k, column)) {
                holds = true;
                pick<Group>(p, k, column, values[k], at_target);
            }
        }
        if (!picks<Group> && holds) {
            at_target = to_acc(a.logits[row * n + column]);
        }
        const A own_total = a.smoothing != 0 ? total(p, n, values) : A(0);
        const max_sum<A> of_lanes = exponentials(values, LOG2_E<A>, lanes_of(group));
        const max_sum<A> all = group_max_sum(of_lanes, LOG2_E<A>, group);
        const A mean = row_mean(a, own_total, group);
        if (in_work && (column == NO_COLUMN ? group.leads() : holds)) {
            store_loss(a, row, target, at_target, mean, all);
        }
        if (GRADIENT && in_work) {
            const row_gradient<A> gradient = gradient_of_row(a, row, target, lse_for_gradient(a, all));
            T *to = a.gradient + row * n;
            const A scale = gradient.scale * of_lanes.share_of(all, LOG2_E<A>);
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    values[k][i] = scale * values[k][i] - gradient.share;
                }
                if (column == NO_COLUMN) { // exponentials may be NaN
#pragma unroll
                    for (int i = 0; i < SIZE; i++) {
                        values[k][i] = -gradient.share;
                    }
                }
                if (picks<Group> && has_column(p, k, column)) {
#pragma unroll
                    for (int i = 0; i < SIZE; i++) {
                        values[k][i] -= column == p.column(k) + i ? gradient.hit : A(0);
                    }
                }
                store_vector<T, ALIGNED>(to, n, p.column(k), pack<T>(values[k]));
            }
            if (!picks<Group> && holds) {
                const A exponential = power_of_two((at_target - all.base()) * LOG2_E<A>) * reciprocal(all.sum);
                to[column] = from_acc<T>(gradient.scale * exponential - gradient.share - gradient.hit);
            }
        }
    }
};

// A row in shared memory. Its exponentials are computed twice.
template <bool GRADIENT, bool ALIGNED, int VECTORS, typename T_> struct cross_entropy_row_in_shared {
    using T = T_;
    using A = acc_t<T>;
    using shared = max_sum<A>;
    using part = row_part<T, ALIGNED>;
    static constexpr int SIZE = vector_size<T>;

    const uint4 *slots; // 32 apart
    row_target target;

    struct columns {
        __device__ __forceinline__ void load(const cross_entropy_rows<T> &, const part &) {}
    };

    __device__ __forceinline__ void load(const cross_entropy_rows<T> &a, int64_t row, const part &) {
        target = target_of_row(a, row);
    }

    __device__ __forceinline__ void finish(const cross_entropy_rows<T> &a, int64_t row, const part &p, const columns &,
                                           block_group<shared> &group) const {
        const int column = static_cast<int>(target.column);
        auto inside = [&](int k, int i) { return p.column(k) + i >= 0 && p.column(k) + i < p.n; };
        auto values_of = [&](int k, A(&values)[SIZE]) {
            unpack<T>(slots[k * 32], values);
            if (p.column(k) + SIZE > p.n || (!ALIGNED && p.column(k) < 0)) {
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    values[i] = inside(k, i) ? values[i] : minus_infinity<A>();
                }
            }
        };
        const max_sum<A> of_warp = sum_exponentials<A, VECTORS, SIZE>(values_of, LOG2_E<A>);
        const max_sum<A> all = group_max_sum(of_warp, LOG2_E<A>, group);
        A total = 0;
        if (a.smoothing != 0) {
#pragma unroll 1
            for (int k = 0; k < VECTORS; k++) {
                A values[SIZE];
                unpack<T>(slots[k * 32], values);
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    total += inside(k, i) ? values[i] : A(0);
                }
            }
        }
        const A mean = row_mean(a, total, group);
        const int distance = column - p.first; // to the thread's first column
        const int piece = distance / p.stride;
        const int element = distance % p.stride;
        const bool holds = distance >= 0 && element < SIZE && piece < VECTORS;
        const A at_target = holds ? to_acc(reinterpret_cast<const T *>(slots + piece * 32)[element]) : A(0);
        if (column == NO_COLUMN ? group.leads() : holds) {
            store_loss(a, row, target, at_target, mean, all);
        }
        if constexpr (GRADIENT) {
            const row_gradient<A> gradient = gradient_of_row(a, row, target, lse_for_gradient(a, all));
            T *to = a.gradient + row * p.n;
            const A base = all.base();
            const A scale = all.sum == 0 ? A(0) : gradient.scale * reciprocal(all.sum);
            forget_shared();
#pragma unroll 2
            for (int k = 0; k < VECTORS; k++) {
                A values[SIZE];
                values_of(k, values);
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    values[i] = scale * power_of_two((values[i] - base) * LOG2_E<A>) - gradient.share;
                }
                if (column == NO_COLUMN) { // exponentials may be NaN
#pragma unroll
                    for (int i = 0; i < SIZE; i++) {
                        values[i] = -gradient.share;
                    }
                }
                p.store(to, k, values);
            }
            if (holds) { // over what was stored with the others
                const A value = scale * power_of_two((at_target - base) * LOG2_E<A>) - gradient.share;
                to[column] = from_acc<T>(value - gradient.hit);
            }
        }
    }
};
