// Short rows of logits that are no whole vectors, in runs and without smoothing: cross_entropy_rows.cuh has the
// formula, row_runs.cuh says what a run is.
#pragma once

#include "cross_entropy_row.cuh"
#include "run_shares.cuh"

// Of a part of a row: the largest logit and the sum of exponentials relative to it. Of a whole row: what its gradient
// is made of; without a target, column is NO_COLUMN and all elements are `hit`.
template <typename A> struct alignas(16) logits_share {
    A largest;
    A sum; // of a whole row: what exponentials relative to `largest` are multiplied by
    A hit; // what the target has less
    A column;

    // The factor of exponentials relative to another number.
    __device__ __forceinline__ A scale_of(A other) const {
        return max_sum<A>{other, A(0)}.rebased(largest, LOG2_E<A>) * sum;
    }
};

template <typename A> __device__ __forceinline__ max_sum<A> exponentials_of(const logits_share<A> &share) {
    return {share.largest, share.sum};
}

template <typename T>
__device__ __forceinline__ void store_loss_of_row(const cross_entropy_rows<T> &a, int64_t row, const row_target &target,
                                                  const max_sum<acc_t<T>> &all) {
    const bool has = target.column != NO_COLUMN;
    const acc_t<T> at_target = has ? to_acc(a.logits[row * a.n + target.column]) : acc_t<T>(0);
    store_loss(a, row, target, at_target, acc_t<T>(0), all);
}

template <typename T>
__device__ __forceinline__ logits_share<acc_t<T>> finished_row(const cross_entropy_rows<T> &a, int64_t row,
                                                               const max_sum<acc_t<T>> &all) {
    using A = acc_t<T>;
    const row_target target = target_of_row(a, row);
    store_loss_of_row(a, row, target, all);
    const bool has = target.column != NO_COLUMN;
    const row_gradient<A> gradient = gradient_of_row(a, row, target, lse_for_gradient(a, all));
    const A scale = all.sum == 0 ? A(0) : gradient.scale * reciprocal(all.sum);
    return {all.base(), scale, has ? gradient.hit : -gradient.share, static_cast<A>(target.column)};
}

// The gradient of some exponentials of a row, those `from` and above but below `to`, the first of which is in `column`.
template <typename A, int SIZE>
__device__ __forceinline__ void subtract_target(const logits_share<A> &row, int from, int to, int column,
                                                A (&values)[SIZE]) {
    const int target = row.column < 0 ? -1 : static_cast<int>(row.column) - column + from;
    if (row.column < 0 || (target >= from && target < to)) {
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            if (row.column < 0) {
                values[i] = i >= from && i < to ? row.hit : values[i];
            } else {
                values[i] -= i == target ? row.hit : A(0);
            }
        }
    }
}

template <bool GRADIENT, int VECTORS, typename T>
__device__ __forceinline__ void cross_entropy_of_runs(const cross_entropy_rows<T> &a) {
    using A = acc_t<T>;
    constexpr int SIZE = vector_size<T>;
    row_run<T, VECTORS> run(a.rows, a.n, a.slab, is_aligned(a.logits));
    const max_sum_of_shares<A> combine = {LOG2_E<A>};
    run.for_each([&] {
        uint4 x[VECTORS];
        run.template load<!GRADIENT>(a.logits, x);
        A values[VECTORS][SIZE];
        max_sum<A> firsts[VECTORS], nexts[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            unpack<T>(x[k], values[k]);
        }
        find_exponentials(run, values, LOG2_E<A>, firsts, nexts);
        if constexpr (GRADIENT) {
            logits_share<A> of_first[VECTORS], of_next[VECTORS];
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                of_first[k] = {firsts[k].max, firsts[k].sum, A(0), A(0)};
                of_next[k] = {nexts[k].max, nexts[k].sum, A(0), A(0)};
            }
            run.put_together(of_first, of_next, [&](const row_shares<logits_share<A>> &row) {
                const max_sum<A> all = combine(row);
                return row.leads() && row.row < a.rows ? finished_row(a, row.row, all) : logits_share<A>{};
            });
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                const A first_scale = of_first[k].scale_of(firsts[k].max);
                const A next_scale = of_next[k].scale_of(nexts[k].max);
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    values[k][i] *= run.first(i) ? first_scale : next_scale;
                }
                subtract_target(of_first[k], 0, run.first_count(), run.column, values[k]);
                subtract_target(of_next[k], run.first_count(), SIZE, 0, values[k]);
                x[k] = pack<T>(values[k]);
            }
            run.store(a.gradient, x);
        } else {
            run.put_together(firsts, nexts, [&](const row_shares<max_sum<A>> &row) {
                const max_sum<A> all = combine(row);
                if (row.leads() && row.row < a.rows) {
                    store_loss_of_row(a, row.row, target_of_row(a, row.row), all);
                }
                return all;
            });
        }
    });
}
