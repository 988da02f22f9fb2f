// How what was found in parts of a row is put together in runs, row_runs.cuh: sums, the largest of numbers that are not
// negative, and sums of exponentials.
#pragma once

#include "max_sum.cuh"
#include "row_max.cuh"
#include "row_runs.cuh"

struct largest_of_shares {
    __device__ __forceinline__ float operator()(const row_shares<float> &row) const {
        float largest = row.head;
        for (int i = row.first + row.lane; i < row.last; i += row.lanes) {
            largest = max_or_nan(largest, row.shares[i]);
        }
        return lane_max(largest, row.lanes);
    }
};
template <typename A> __device__ __forceinline__ max_sum<A> exponentials_of(const max_sum<A> &share) { return share; }
template <typename A> struct max_sum_of_shares {
    A rate;

    template <typename S> __device__ __forceinline__ max_sum<A> operator()(const row_shares<S> &row) const {
        const max_sum<A> head = row.head_count > 0 ? exponentials_of(row.head) : empty_max_sum<A>();
        max_sum<A> all = head;
        for (int i = row.first + row.lane; i < row.last; i += row.lanes) {
            all.max = max(all.max, exponentials_of(row.shares[i]).max);
        }
        all.max = lane_largest(all.max, row.lanes);
        const A base = all.base();
        all.sum = head.sum * head.rebased(base, rate);
        for (int i = row.first + row.lane; i < row.last; i += row.lanes) {
            const max_sum<A> share = exponentials_of(row.shares[i]);
            all.sum += share.sum * share.rebased(base, rate);
        }
        all.sum = lane_sum(all.sum, row.lanes);
        return all;
    }
};
template <typename S> struct sum_of_shares {
    __device__ __forceinline__ S operator()(const row_shares<S> &row) const {
        S sum = row.head;
        for (int i = row.first + row.lane; i < row.last; i += row.lanes) {
            sum += row.shares[i];
        }
        return lane_sum(sum, row.lanes);
    }
};

// Of the values of a run, which become their exponentials, relative to the largest of their row's part of a vector.
template <typename T, int VECTORS>
__device__ __forceinline__ void
find_exponentials(const row_run<T, VECTORS> &run, acc_t<T> (&values)[VECTORS][vector_size<T>], acc_t<T> rate,
                  max_sum<acc_t<T>> (&firsts)[VECTORS], max_sum<acc_t<T>> (&nexts)[VECTORS]) {
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        acc_t<T>(&v)[vector_size<T>] = values[k];
        firsts[k] = empty_max_sum<acc_t<T>>();
        nexts[k] = empty_max_sum<acc_t<T>>();
#pragma unroll
        for (int i = 0; i < vector_size<T>; i++) {
            if (run.first(i)) {
                firsts[k].max = max(firsts[k].max, v[i]);
            } else {
                nexts[k].max = max(nexts[k].max, v[i]);
            }
        }
        const acc_t<T> first_base = firsts[k].base();
        const acc_t<T> next_base = nexts[k].base();
#pragma unroll
        for (int i = 0; i < vector_size<T>; i++) {
            v[i] = power_of_two((v[i] - (run.first(i) ? first_base : next_base)) * rate);
            if (run.first(i)) {
                firsts[k].sum += v[i];
            } else {
                nexts[k].sum += v[i];
            }
        }
    }
}
