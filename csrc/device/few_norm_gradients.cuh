// Gradients of normalised rows, norm_gradients.cuh has the formula: few rows, and rows that fit nowhere.
//
// Few rows need one launch: the first blocks take columns of grad_weight and grad_bias, 128 bytes or 32 columns each,
// straight from x and grad_y, the others a row each. It reads the inputs twice.
//
// Rows that fit nowhere are read twice, by a block for each of a fixed set of rows, and summed in place in `partial`.
#pragma once

#include "norm_gradients.cuh"

// Columns [first, first + WIDTH * LANES) of the sums over rows, by one block.
template <bool CENTERED, int WIDTH, int LANES, typename T>
__device__ __forceinline__ void sum_columns(const norm_gradients<T> &a, int first) {
    using A = acc_t<T>;
    constexpr int COLUMNS = WIDTH * LANES;
    constexpr int LOADS = WIDTH > 1 ? 4 : 8; // in flight per thread and tensor
    __shared__ A warp_sums[CENTERED ? 2 : 1][MAX_WARPS][COLUMNS];
    const int n = a.width();
    const int rows = static_cast<int>(a.rows);
    const int column = min(first + int(threadIdx.x) % LANES * WIDTH, n - WIDTH);
    const int step = blockDim.x / LANES;
    A weight_sums[WIDTH] = {}, bias_sums[WIDTH] = {};
#pragma unroll 1
    for (int row = threadIdx.x / LANES; row < rows; row += LOADS * step) {
        A rstd[LOADS], mean[LOADS], x[LOADS][WIDTH], grad_y[LOADS][WIDTH];
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            const int loaded = min(row + k * step, rows - 1); // no branches between loads
            const int64_t start = int64_t{loaded} * n + column;
            rstd[k] = a.rstd[loaded];
            mean[k] = CENTERED ? a.mean[loaded] : A(0);
            if constexpr (WIDTH > 1) {
                unpack<T>(__ldg(reinterpret_cast<const uint4 *>(a.x + start)), x[k]);
                unpack<T>(__ldg(reinterpret_cast<const uint4 *>(a.grad_y + start)), grad_y[k]);
            } else {
                x[k][0] = to_acc(a.x[start]);
                grad_y[k][0] = to_acc(a.grad_y[start]);
            }
        }
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
#pragma unroll
            for (int i = 0; i < WIDTH; i++) {
                const A grad = row + k * step < rows ? grad_y[k][i] : A(0);
                const A centered = CENTERED ? x[k][i] - mean[k] : x[k][i];
                weight_sums[i] += row + k * step < rows ? grad * (centered * rstd[k]) : A(0);
                bias_sums[i] += grad;
            }
        }
    }
    store_column_sums<LANES>(weight_sums, warp_sums[0]);
    if constexpr (CENTERED) {
        store_column_sums<LANES>(bias_sums, warp_sums[1]);
    }
    __syncthreads();
    const int target = first + threadIdx.x % COLUMNS;
    const int which = threadIdx.x / COLUMNS; // sum
    T *sums = which == 0 ? a.grad_weight : a.grad_bias;
    if (which < (CENTERED ? 2 : 1) && sums != nullptr && target < n) {
        A sum = 0;
#pragma unroll 4
        for (int i = 0; i < int(blockDim.x) / 32; i++) {
            sum += warp_sums[which][i][threadIdx.x % COLUMNS];
        }
        sums[target] = from_acc<T>(sum);
    }
}

// grad_x of a row by one block, a vector per thread.
template <bool CENTERED, bool ADDED, typename T>
__device__ __forceinline__ void gradient_of_short_row(const norm_gradients<T> &a, int64_t row) {
    using A = acc_t<T>;
    using products = row_products<A, CENTERED>;
    constexpr int SIZE = vector_size<T>;
    __shared__ group_buffer<typename products::type> buffers[2];
    const int n = a.width();
    const int first = threadIdx.x * SIZE;
    A x[SIZE], g[SIZE], weight[SIZE], more[SIZE];
    const A rstd = a.rstd[row];
    const A mean = CENTERED ? a.mean[row] : A(0);
    const A offset = a.weight_offset();
    unpack<T>(load_vector<T, true>(a.x + row * n, n, first), x);
    unpack<T>(load_vector<T, true>(a.grad_y + row * n, n, first), g);
    unpack<T>(load_vector<T, true>(a.weight, a.weight != nullptr ? n : 0, first), weight);
    if constexpr (ADDED) {
        unpack<T>(load_vector<T, true>(a.grad_total + row * n, a.grad_total != nullptr ? n : 0, first), more);
    }
    typename products::type product = {};
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
        x[i] = CENTERED ? x[i] - mean : x[i];
        g[i] *= offset + weight[i];
        products::add(product, g[i], x[i]);
    }
    const row_slope<A> slope(group_sum(product, whole_block(), buffers, 0, 0), rstd, a.inverse_n());
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
        g[i] = slope.at(g[i], x[i]) + (ADDED ? more[i] : A(0));
    }
    store_vector<T, true>(a.grad_x + row * n, n, first, pack<T>(g));
}

template <bool CENTERED, bool ADDED, typename T>
__device__ __forceinline__ void gradients_of_few_rows(const norm_gradients<T> &a) {
    constexpr int LANES = 8;
    constexpr int COLUMNS = vector_size<T> * LANES;
    const int column_blocks = (a.width() + COLUMNS - 1) / COLUMNS;
    const int64_t row = int64_t{blockIdx.x} - column_blocks;
    if (row >= 0) {
        if (a.grad_x != nullptr) {
            gradient_of_short_row<CENTERED, ADDED>(a, row);
        }
    } else if (a.sums_wanted()) {
        sum_columns<CENTERED, vector_size<T>, LANES>(a, blockIdx.x * COLUMNS);
    }
}

// One row by one block, element by element and read twice. `partial` gains the row's part of the sums unless null.
template <bool CENTERED, bool ADDED, typename T, typename Buffers>
__device__ __forceinline__ void gradients_of_row(const norm_gradients<T> &a, int64_t row, acc_t<T> *partial,
                                                 Buffers &buffers, int round) {
    using A = acc_t<T>;
    using products = row_products<A, CENTERED>;
    constexpr int LOADS = CENTERED || ADDED ? 2 : 4; // in flight per thread and tensor
    const A rstd = a.rstd[row];
    const A mean = CENTERED ? a.mean[row] : A(0);
    const A offset = a.weight_offset();
    typename products::type product = {};
    row_slope<A> slope(product, rstd, A(1));
#pragma unroll 1
    for (int read = a.grad_x != nullptr ? 0 : 1; read < 2; read++) {
        const bool add = read == 1 && partial != nullptr && round > 0;
#pragma unroll 1
        for (int64_t first = threadIdx.x; first < a.n; first += LOADS * blockDim.x) {
            A x[LOADS], grad_y[LOADS], weight[LOADS], more[LOADS], weight_sum[LOADS], bias_sum[LOADS];
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = min(first + k * blockDim.x, a.n - 1); // no branches between loads
                x[k] = to_acc(a.x[row * a.n + i]) - mean;
                grad_y[k] = to_acc(a.grad_y[row * a.n + i]);
                weight[k] = offset + (a.weight != nullptr ? to_acc(a.weight[i]) : A(0));
                more[k] = ADDED && a.grad_total != nullptr && read == 1 ? to_acc(a.grad_total[row * a.n + i]) : A(0);
                weight_sum[k] = add ? partial[i] : A(0);
                bias_sum[k] = CENTERED && add ? partial[a.columns + i] : A(0);
            }
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = first + k * blockDim.x;
                if (i < a.n) {
                    const A g = weight[k] * grad_y[k];
                    products::add(product, g, x[k]);
                    if (read == 1) {
                        if (partial != nullptr) {
                            partial[i] = weight_sum[k] + grad_y[k] * (x[k] * rstd);
                            if constexpr (CENTERED) {
                                partial[a.columns + i] = bias_sum[k] + grad_y[k];
                            }
                        }
                        if (a.grad_x != nullptr) {
                            a.grad_x[row * a.n + i] = from_acc<T>(slope.at(g, x[k]) + more[k]);
                        }
                    }
                }
            }
        }
        if (read == 0) {
            slope = row_slope<A>(group_sum(product, whole_block(), buffers, 0, round), rstd, a.inverse_n());
        }
    }
}

// Of few rows, and of those that fit nowhere.
template <bool CENTERED, bool ADDED, typename T>
__device__ __forceinline__ void gradients_in_two_reads(const norm_gradients<T> &a) {
    using A = acc_t<T>;
    constexpr int COLUMNS = 32;
    __shared__ group_buffer<typename row_products<A, CENTERED>::type> buffers[2];
    int64_t row = blockIdx.x;
    int64_t step = gridDim.x;
    A *partial = a.sums_wanted() ? a.partial + row * (CENTERED ? 2 : 1) * a.columns : nullptr;
    if (a.few) {
        row -= (a.n + COLUMNS - 1) / COLUMNS;
        step = a.rows;
        partial = nullptr;
        if (row < 0) {
            if (a.sums_wanted()) {
                sum_columns<CENTERED, 1, COLUMNS>(a, blockIdx.x * COLUMNS);
            }
            return;
        }
        if (a.grad_x == nullptr) {
            return;
        }
    }
    for (int round = 0; row < a.rows; row += step, round++) {
        gradients_of_row<CENTERED, ADDED>(a, row, partial, buffers, round);
    }
}
