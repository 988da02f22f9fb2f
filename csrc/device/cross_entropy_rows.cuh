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
// VECTORS: vectors of a row that a thread holds, more than 4 in shared memory; 0 reads the row element by element,
//          twice for the gradient.
// ROWS:    rows that a thread works on at once, `lanes` lanes each; 0 gives a row to a block or cluster. Rows that are
//          not ALIGNED pass through shared memory, `stage_lanes` lanes each; with 2 they go in runs.
#pragma once

#include "cross_entropy_runs.cuh"
#include "staged_rows.cuh"

template <bool GRADIENT, typename T>
__device__ __forceinline__ void cross_entropy_of_staged_rows(const cross_entropy_rows<T> &a) {
    using A = acc_t<T>;
    constexpr int ELEMENTS = stage_elements<T>;
    __shared__ stage<T> shared;
    const staged_part p(a);
    const T *source = a.logits + p.start;
    stage_in<T, !GRADIENT>(shared, source, p.count);
    const row_target target = target_of_row(a, p.row);
    __syncthreads();

    T *elements = shared.at(source) + p.offset;
    A values[1][ELEMENTS];
    A at_target = 0;
    A total = 0;
    bool holds = false;
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        values[0][k] = minus_infinity<A>();
        if (p.reaches(k)) {
            const int column = p.column(k);
            const bool inside = column < p.n && p.row < a.rows;
            values[0][k] = inside ? to_acc(elements[column]) : values[0][k];
            at_target = column == target.column ? values[0][k] : at_target;
            holds |= column == target.column;
            total += inside ? values[0][k] : A(0);
        }
    }
    const lane_group threads = {p.lanes};
    const max_sum<A> all = exponentials(values, LOG2_E<A>, p.lanes);
    const A mean = row_mean(a, total, threads);
    if (p.row < a.rows && (target.column == NO_COLUMN ? threads.leads() : holds)) {
        store_loss(a, p.row, target, at_target, mean, all);
    }
    if constexpr (GRADIENT) {
        if (p.row < a.rows) {
            row_gradient<A> gradient = gradient_of_row(a, p.row, target, lse_for_gradient(a, all));
            gradient.scale *= all.share_of(all, LOG2_E<A>);
#pragma unroll
            for (int k = 0; k < ELEMENTS; k++) {
                const int column = p.column(k);
                if (column < p.n) {
                    elements[column] = from_acc<T>(gradient.at(column, values[0][k], target));
                }
            }
        }
        stage_out(shared, source, a.gradient + p.start, p.count);
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
    bool holds = false;
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
            const bool hit = first + k * blockDim.x == target.column;
            at_target = hit ? values[0][k] : at_target;
            holds |= hit;
            total += inside ? values[0][k] : A(0);
            values[0][k] = inside ? values[0][k] : minus_infinity<A>();
        }
        own = combined(own, exponentials(values, LOG2_E<A>, 1), LOG2_E<A>);
    }
    block_group<max_sum<A>> threads = {whole_block(), buffers, 0};
    const max_sum<A> all = group_max_sum(lane_max_sum(own, LOG2_E<A>, 32), LOG2_E<A>, threads);
    const A mean = row_mean(a, total, threads);
    if (target.column == NO_COLUMN ? threadIdx.x == 0 : holds) {
        store_loss(a, row, target, at_target, mean, all);
    }
    if constexpr (GRADIENT) {
        row_gradient<A> gradient = gradient_of_row(a, row, target, lse_for_gradient(a, all));
        gradient.scale *= all.sum == 0 ? A(0) : reciprocal(all.sum);
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
    if constexpr (!ALIGNED && ROWS == 2) {
        cross_entropy_of_runs<GRADIENT, VECTORS>(a);
    } else if constexpr (VECTORS == 0) {
        cross_entropy_of_long_rows<GRADIENT>(a);
    } else if constexpr (ROWS == 0) {
        if constexpr (VECTORS <= 4) {
            rows_by_blocks<cross_entropy_row<GRADIENT, ALIGNED, VECTORS, T>, VECTORS, ALIGNED>(a, a.logits);
        } else {
            rows_in_shared<cross_entropy_row_in_shared<GRADIENT, ALIGNED, VECTORS, T>, VECTORS>(a, {a.logits});
        }
    } else if constexpr (ALIGNED) {
        rows_by_lanes<cross_entropy_row<GRADIENT, true, VECTORS, T>, ROWS>(a, static_cast<int>(a.lanes));
    } else {
        cross_entropy_of_staged_rows<GRADIENT>(a);
    }
}
