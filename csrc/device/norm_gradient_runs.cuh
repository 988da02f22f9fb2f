// Gradients of short normalised rows that are no whole vectors, in runs: norm_gradients.cuh has the formula,
// row_runs.cuh says what a run is. A thread meets the same columns in each run, so sums for grad_weight stay in
// registers, and at the end a block adds them up, in order, into one row of `partial`.
#pragma once

#include "norm_gradients.cuh"
#include "run_shares.cuh"

// Into a row of `partial`, what the threads of a block summed in the columns of their vectors.
template <typename T, int VECTORS>
__device__ __forceinline__ void add_columns(const row_run<T, VECTORS> &run, const acc_t<T> (&sums)[vector_size<T>],
                                            acc_t<T> *partial) {
    extern __shared__ __align__(128) uint4 slots[];
    acc_t<T> *shared = reinterpret_cast<acc_t<T> *>(slots); // one slab
    __syncthreads();
    if (run.holds) {
#pragma unroll
        for (int i = 0; i < vector_size<T>; i++) {
            shared[threadIdx.x * vector_size<T> + i] = sums[i];
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int column = threadIdx.x; column < run.n; column += blockDim.x) {
        acc_t<T> sum = 0;
#pragma unroll 4
        for (int row = 0; row < run.slab_rows; row++) {
            sum += shared[row * run.n + column];
        }
        partial[column] = sum;
    }
}

template <bool CENTERED, bool ADDED, int VECTORS, typename T>
__device__ __forceinline__ void gradients_of_runs(const norm_gradients<T> &a) {
    using A = acc_t<T>;
    using products = row_products<A, CENTERED>;
    using product_type = typename products::type;
    constexpr int SIZE = vector_size<T>;
    const bool more = ADDED && a.grad_total != nullptr;
    const bool aligned = is_aligned(a.x) && is_aligned(a.grad_y) && is_aligned(a.grad_x) && is_aligned(a.grad_total);
    row_run<T, VECTORS> run(a.rows, a.n, a.slab, aligned);
    A weights[SIZE], weight_sums[SIZE] = {}, bias_sums[SIZE] = {};
    run.load_columns(a.weight, weights);
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
        weights[i] += a.weight_offset();
    }
    run.for_each([&] {
        uint4 x[VECTORS], grad_y[VECTORS], grad_total[VECTORS] = {};
        run.load(a.x, x);
        run.load(a.grad_y, grad_y);
        if (more) {
            run.load(a.grad_total, grad_total);
        }
        A rstd[VECTORS][2], mean[VECTORS][2]; // of the first row and of the next
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
#pragma unroll
            for (int j = 0; j < 2; j++) {
                const int64_t row = run.first_row + k * run.slab_rows + run.row + j;
                const bool has = run.holds && row < a.rows;
                rstd[k][j] = has ? a.rstd[row] : A(0);
                mean[k][j] = CENTERED && has ? a.mean[row] : A(0);
            }
        }
        product_type firsts[VECTORS], nexts[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            A xs[SIZE], grads[SIZE];
            unpack<T>(x[k], xs);
            unpack<T>(grad_y[k], grads);
            firsts[k] = {};
            nexts[k] = {};
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                const A centered = CENTERED ? xs[i] - (run.first(i) ? mean[k][0] : mean[k][1]) : xs[i];
                weight_sums[i] += (run.first(i) ? rstd[k][0] : rstd[k][1]) * (grads[i] * centered);
                bias_sums[i] += CENTERED ? grads[i] : A(0);
                if (run.first(i)) {
                    products::add(firsts[k], weights[i] * grads[i], centered);
                } else {
                    products::add(nexts[k], weights[i] * grads[i], centered);
                }
            }
        }
        if (a.grad_x == nullptr) {
            return;
        }
        run.put_together(firsts, nexts, sum_of_shares<product_type>());
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            const row_slope<A> first(firsts[k], rstd[k][0], a.inverse_n());
            const row_slope<A> next(nexts[k], rstd[k][1], a.inverse_n());
            A xs[SIZE], grads[SIZE], totals[SIZE];
            unpack<T>(x[k], xs);
            unpack<T>(grad_y[k], grads);
            unpack<T>(grad_total[k], totals);
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                const bool in_first = run.first(i);
                const A centered = CENTERED ? xs[i] - (in_first ? mean[k][0] : mean[k][1]) : xs[i];
                row_slope<A> slope = first;
                slope.rstd = in_first ? first.rstd : next.rstd;
                slope.slope = in_first ? first.slope : next.slope;
                slope.share = in_first ? first.share : next.share;
                grads[i] = slope.at(weights[i] * grads[i], centered) + (ADDED ? totals[i] : A(0));
            }
            x[k] = pack<T>(grads);
        }
        run.store(a.grad_x, x);
    });
    A *partial = a.partial + blockIdx.x * (CENTERED ? 2 : 1) * a.columns;
    if (a.grad_weight != nullptr) {
        add_columns(run, weight_sums, partial);
    }
    if (CENTERED && a.grad_bias != nullptr) {
        add_columns(run, bias_sums, partial + a.columns);
    }
}
