// Short rows that are no whole vectors, normalised in runs: row_norm.cuh has the formula, row_runs.cuh says what a run
// is.
#pragma once

#include "row_norm.cuh"
#include "run_shares.cuh"

// How the moments of a row are put together: first the mean, then the squared distances to it.
template <typename A> struct moments_of_shares {
    A inverse_n;

    __device__ __forceinline__ moments<A> operator()(const row_shares<moments<A>> &row) const {
        A sum = row.head_count * row.head.mean;
        for (int i = row.first + row.lane; i < row.last; i += row.lanes) {
            sum += row.count(i) * row.shares[i].mean;
        }
        const A mean = lane_sum(sum, row.lanes) * inverse_n;
        const A distance = row.head.mean - mean;
        A squares = row.head_count > 0 ? row.head.squares + row.head_count * (distance * distance) : A(0);
        for (int i = row.first + row.lane; i < row.last; i += row.lanes) {
            const moments<A> share = row.shares[i];
            squares += share.squares + row.count(i) * ((share.mean - mean) * (share.mean - mean));
        }
        return {mean, lane_sum(squares, row.lanes)};
    }
};

// Of `count` of the elements of a vector, in terms of distances to one of them, so that what cancels is no more than
// their number times as large as what is left.
template <typename A> __device__ __forceinline__ moments<A> moments_about(A origin, A sum, A squares, A inverse_count) {
    const A offset = sum * inverse_count;
    const A rest = squares - offset * sum;
    return {origin + offset, rest < 0 ? A(0) : rest};
}

// One row's part of some vectors, or the next row's: sums of squares, or moments.
template <typename T, int VECTORS>
__device__ __forceinline__ void find_squares(const row_run<T, VECTORS> &run, const uint4 (&x)[VECTORS],
                                             acc_t<T> (&firsts)[VECTORS], acc_t<T> (&nexts)[VECTORS]) {
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        acc_t<T> v[vector_size<T>];
        unpack<T>(x[k], v);
        firsts[k] = v[0] * v[0];
        nexts[k] = 0;
#pragma unroll
        for (int i = 1; i < vector_size<T>; i++) {
            if (run.first(i)) {
                firsts[k] += v[i] * v[i];
            } else {
                nexts[k] += v[i] * v[i];
            }
        }
    }
}

template <typename T, int VECTORS>
__device__ __forceinline__ void
find_moments(const row_run<T, VECTORS> &run, const uint4 (&x)[VECTORS], acc_t<T> inverse_first, acc_t<T> inverse_next,
             moments<acc_t<T>> (&firsts)[VECTORS], moments<acc_t<T>> (&nexts)[VECTORS]) {
    using A = acc_t<T>;
    constexpr int SIZE = vector_size<T>;
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        A v[SIZE];
        unpack<T>(x[k], v);
        A first_sum = 0, first_squares = 0, next_sum = 0, next_squares = 0;
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            const A distance = v[i] - (run.first(i) ? v[0] : v[SIZE - 1]);
            if (run.first(i)) {
                first_sum += distance;
                first_squares += distance * distance;
            } else {
                next_sum += distance;
                next_squares += distance * distance;
            }
        }
        firsts[k] = moments_about(v[0], first_sum, first_squares, inverse_first);
        nexts[k] = moments_about(v[SIZE - 1], next_sum, next_squares, inverse_next);
    }
}

template <bool CENTERED, bool ADDED, int VECTORS, typename T>
__device__ __forceinline__ void normalize_runs(const norm_rows<T> &a) {
    using A = acc_t<T>;
    constexpr int SIZE = vector_size<T>;
    const bool aligned =
        is_aligned(a.x) && is_aligned(a.y) && (!ADDED || (is_aligned(a.residual) && is_aligned(a.total)));
    row_run<T, VECTORS> run(a.rows, a.n, a.slab, aligned);
    A weights[SIZE], biases[SIZE];
    run.load_columns(a.weight, weights);
    run.load_columns(CENTERED ? a.bias : nullptr, biases);
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
        weights[i] += a.weight_offset();
    }
    run.for_each([&] {
        uint4 x[VECTORS];
        run.template load<!ADDED>(a.x, x);
        if constexpr (ADDED) {
            uint4 residual[VECTORS];
            run.template load<false>(a.residual, residual);
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                A v[SIZE], more[SIZE];
                unpack<T>(x[k], v);
                unpack<T>(residual[k], more);
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    v[i] += more[i];
                }
                x[k] = pack<T>(v);
            }
            run.store(a.total, x);
        }
        if constexpr (CENTERED) {
            moments<A> firsts[VECTORS], nexts[VECTORS];
            find_moments(run, x, A(1) / run.first_count(), A(1) / max(1, run.next_count()), firsts, nexts);
            const moments_of_shares<A> combine = {A(1) / static_cast<A>(run.n)};
            run.put_together(firsts, nexts, [&](const row_shares<moments<A>> &row) {
                const moments<A> found = combine(row);
                const A rstd = a.rstd_of(found.squares);
                if (row.leads() && row.row < a.rows) {
                    a.template store_statistics<true>(row.row, found.mean, rstd);
                }
                return moments<A>{found.mean, rstd};
            });
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                A v[SIZE];
                unpack<T>(x[k], v);
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    const A mean = run.first(i) ? firsts[k].mean : nexts[k].mean;
                    const A rstd = run.first(i) ? firsts[k].squares : nexts[k].squares;
                    v[i] = (v[i] - mean) * rstd * weights[i] + biases[i];
                }
                x[k] = pack<T>(v);
            }
        } else {
            A firsts[VECTORS], nexts[VECTORS];
            find_squares(run, x, firsts, nexts);
            run.put_together(firsts, nexts, [&](const row_shares<A> &row) {
                const A rstd = a.rstd_of(sum_of_shares<A>()(row));
                if (row.leads() && row.row < a.rows) {
                    a.template store_statistics<false>(row.row, A(0), rstd);
                }
                return rstd;
            });
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                A v[SIZE];
                unpack<T>(x[k], v);
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    v[i] = v[i] * (run.first(i) ? firsts[k] : nexts[k]) * weights[i];
                }
                x[k] = pack<T>(v);
            }
        }
        run.store(a.y, x);
    });
}

template <bool CENTERED, bool ADDED, bool ALIGNED, int VECTORS, int ROWS, typename T>
__device__ __forceinline__ void normalize_rows(const norm_rows<T> &a) {
    if constexpr (!ALIGNED && ROWS == 2) {
        normalize_runs<CENTERED, ADDED, VECTORS>(a);
    } else if constexpr (VECTORS == 0) {
        normalize_in_reads<CENTERED, ADDED>(a);
    } else if constexpr (ROWS == 0 && CENTERED) {
        if constexpr (VECTORS > 4) {
            rows_in_shared<centered_row<T, ALIGNED, VECTORS, true>, VECTORS>(a, {a.x});
        } else {
            rows_by_blocks<centered_row<T, ALIGNED, VECTORS, false>, VECTORS, VECTORS == 1>(a, a.x);
        }
    } else if constexpr (ROWS == 0) {
        using row = norm_row<T, CENTERED, ADDED, row_part<T, ALIGNED>, VECTORS>;
        rows_by_blocks<row, VECTORS, VECTORS == 1>(a, a.x);
    } else {
        using row = norm_row<T, CENTERED, ADDED, row_part<T, ALIGNED, !ALIGNED>, VECTORS>;
        rows_by_lanes<row, ROWS>(a, ALIGNED ? static_cast<int>(a.lanes) : 32);
    }
}
