// Gradients of normalised rows, norm_gradients.cuh has the formula. Many rows here, few_norm_gradients.cuh the others.
//
// First pass: about one block per multiprocessor, each with several groups of threads, each group with its own rows, a
// fixed set. The next row of every input is on its way into shared memory while one is worked on; every thread copies
// and reads its own vectors, so copying needs no barrier. Sums for grad_weight stay in registers. At the end a block
// adds its groups up, in order, into one row of `partial`. Long rows are spread over a cluster. Second pass: adds the
// rows of `partial` in order. There are no atomics: equal inputs give equal bits.
//
// ALIGNED: every row is made of whole, aligned vectors.
// RUNS:    short rows that are no whole vectors, in runs of VECTORS slabs: row_runs.cuh.
// VECTORS: vectors of a row that a thread holds; 0 for few rows, and those that fit nowhere. `threads` threads of a
//          block share a row: up to 32, a power of two, or whole warps.
#pragma once

#include "few_norm_gradients.cuh"
#include "norm_gradient_runs.cuh"

// Which rows a group of threads takes: `own` of them, `step` rows apart and thus equally misaligned, so that a thread
// meets the same columns in each. All groups of a block take part in as many rounds as the first one.
struct row_schedule {
    int64_t row; // the group's first
    int rounds;
    int own;
};

template <typename T>
__device__ __forceinline__ row_schedule schedule_rows(const norm_gradients<T> &a, int64_t block_row, int group) {
    const int64_t last_round = (a.rounds - 1) * a.step;
    auto rounds_from = [&](int64_t row) {
        return row >= a.step ? 0 : static_cast<int>(a.rounds) - (row + last_round < a.rows ? 0 : 1);
    };
    return {block_row + group, rounds_from(block_row), rounds_from(block_row + group)};
}

// Clears those of the elements at `column` and behind that belong to a neighbouring row.
template <typename A, int SIZE> __device__ __forceinline__ void clear_outside(A (&values)[SIZE], int n, int column) {
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
        values[i] = column + i >= 0 && column + i < n ? values[i] : A(0);
    }
}

// The columns of one thread.
struct thread_columns {
    int block_first; // the first column of the block
    int first;       // of the thread
    int stride;      // from one of its vectors to the next
};

// Adds up, in order, what the groups of a block summed, into a row of `partial`. Groups that share a warp meet in
// shuffles, all others in shared memory.
template <typename T, bool ALIGNED, int VECTORS>
__device__ __forceinline__ void add_groups(int n, acc_t<T> (&sums)[VECTORS][vector_size<T>],
                                           const thread_columns &columns, int threads, acc_t<T> *shared,
                                           acc_t<T> *partial) {
    constexpr int SIZE = vector_size<T>;
    int set = threads; // threads that hold one sum of each column
    if constexpr (ALIGNED && VECTORS == 1) {
#pragma unroll 1
        for (; set < 32; set *= 2) {
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                sums[0][i] += __shfl_xor_sync(0xffffffffu, sums[0][i], set);
            }
        }
    }
    const int sets = blockDim.x / set;
    const bool whole_rows = threads < int(blockDim.x) || cluster_blocks() == 1;
    const int origin = whole_rows ? 0 : columns.block_first;
    const int width = whole_rows ? n : VECTORS * threads * SIZE;
    __syncthreads();
    if (int(threadIdx.x) % set < threads) {
        acc_t<T> *target = shared + threadIdx.x / set * width - origin;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            const int column = columns.first + k * columns.stride;
            if constexpr (ALIGNED) {
                if (column < n) {
#pragma unroll
                    for (int i = 0; i < SIZE; i += 4) {
                        *reinterpret_cast<float4 *>(target + column + i) =
                            make_float4(sums[k][i], sums[k][i + 1], sums[k][i + 2], sums[k][i + 3]);
                    }
                }
            } else {
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    if (column + i >= 0 && column + i < n) {
                        target[column + i] = sums[k][i];
                    }
                }
            }
        }
    }
    __syncthreads();
#pragma unroll 1
    for (int i = threadIdx.x; i < width; i += blockDim.x) {
        const int column = origin + i;
        if (column >= 0 && column < n) {
            acc_t<T> sum = shared[i];
#pragma unroll 4
            for (int j = 1; j < sets; j++) {
                sum += shared[j * width + i];
            }
            partial[column] = sum;
        }
    }
}

template <bool CENTERED, bool ADDED, bool ALIGNED, int VECTORS, typename T>
__device__ __forceinline__ void gradients_of_many_rows(const norm_gradients<T> &a) {
    using A = acc_t<T>;
    using products = row_products<A, CENTERED>;
    constexpr int SIZE = vector_size<T>;
    // A warp's part of shared memory: vectors of the weight, then twice those of every tensor, [VECTORS][32] each.
    constexpr int TENSORS = ADDED ? 3 : 2;
    constexpr int TENSOR = VECTORS * 32;
    constexpr int ROW = TENSORS * TENSOR;
    extern __shared__ __align__(128) uint4 slots[]; // in whole lines for the copies
    __shared__ group_buffer<typename products::type> buffers[2];

    const int n = a.width();
    const int threads = static_cast<int>(a.threads); // of this block that share a row
    const int groups = blockDim.x / threads;
    const int group_index = threadIdx.x / threads;
    const int thread = threadIdx.x % threads;
    const warp_group group = {threads / 32, thread / 32, 1 + group_index, cluster_blocks(), cluster_rank()};
    const int64_t cluster = cluster_index();
    if (group.blocks > 1) {
        announce_block(buffers);
        await_cluster();
    }
    const row_schedule schedule = schedule_rows(a, cluster * groups, group_index);
    const int64_t start = schedule.row * n;

    thread_columns columns; // a warp's vectors are neighbours
    columns.block_first = group.rank * VECTORS * threads * SIZE - row_shift<T, ALIGNED>(a.x + start, n);
    columns.first = columns.block_first + (thread / 32 * TENSOR + thread % 32) * SIZE;
    columns.stride = (ALIGNED ? 32 : min(32, threads)) * SIZE;

    const int weight_slot = threadIdx.x / 32 * (TENSOR + 2 * ROW) + threadIdx.x % 32;
    int slot = weight_slot + TENSOR; // of the row in work
    int next_slot = slot + ROW;      // of the row on its way
    const A offset = a.weight_offset();
    A weight_sums[VECTORS][SIZE], bias_sums[VECTORS][SIZE];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        slots[weight_slot + k * 32] =
            load_vector<T, ALIGNED>(a.weight, a.weight != nullptr ? n : 0, columns.first + k * columns.stride);
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            weight_sums[k][i] = 0;
            bias_sums[k][i] = 0;
        }
    }

    const int64_t stride = a.step * n;
    int64_t at = start + columns.first; // of the row that is fetched
    T *grad_x = a.grad_x + start;
    auto fetch_row = [&](int to, bool wanted) {
#pragma unroll(ALIGNED ? TENSORS * VECTORS : 1)
        for (int k = 0; k < TENSORS * VECTORS; k++) {
            const T *tensor = k < VECTORS ? a.x : k < 2 * VECTORS ? a.grad_y : a.grad_total;
            const int column = columns.first + k % VECTORS * columns.stride;
            fetch<T, ALIGNED>(slots + to + k * 32, tensor + at + (column - columns.first), n, column,
                              wanted && (k < 2 * VECTORS || tensor != nullptr), tensor, a.rows * n);
        }
        commit_copies();
        at += stride;
    };

    const A inverse_n = a.inverse_n();
    A next_rstd = 0;
    A next_mean = 0;
    int64_t next_row = schedule.row;
#pragma unroll 1
    for (int round = -1; round < schedule.rounds; round++) {
        const int free_slot = slot;
        slot = next_slot;
        next_slot = free_slot;
        const A rstd = next_rstd;
        const A mean = next_mean;
        const bool more = round + 1 < schedule.own;
        fetch_row(next_slot, more);
        next_rstd = more ? a.rstd[next_row] : A(0); // anywhere but between copies and wait it cost a tenth
        next_mean = CENTERED && more ? a.mean[next_row] : A(0);
        next_row += a.step;
        if (round < 0) {
            continue;
        }
        await_copies<1>();

        A xs[SIZE], grads[SIZE], weights[SIZE];
        auto unpack_vector = [&](int k) {
            unpack<T>(slots[slot + k * 32], xs);
            unpack<T>(slots[slot + TENSOR + k * 32], grads);
            unpack<T>(slots[weight_slot + k * 32], weights);
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                xs[i] = CENTERED ? xs[i] - mean : xs[i];
                weights[i] += offset;
            }
        };
        typename products::type product = {};
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            unpack_vector(k);
            const int column = columns.first + k * columns.stride;
            if (!ALIGNED && (column < 0 || column + SIZE > n)) {
                clear_outside(xs, n, column);
                clear_outside(grads, n, column);
            }
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                weight_sums[k][i] += rstd * (grads[i] * xs[i]);
                bias_sums[k][i] += CENTERED ? grads[i] : A(0);
                products::add(product, weights[i] * grads[i], xs[i]);
            }
        }
        if (a.grad_x != nullptr) {
            product = threads < 32 ? lane_sum(product, threads)
                                   : cluster_sum(product, group, buffers, group_index * group.warps, round);
            const row_slope<A> slope(product, rstd, inverse_n);
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                if (VECTORS > 1) {
                    unpack_vector(k);
                }
                A more_grads[SIZE];
                if constexpr (ADDED) {
                    unpack<T>(slots[slot + 2 * TENSOR + k * 32], more_grads);
                }
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    xs[i] = slope.at(weights[i] * grads[i], xs[i]) + (ADDED ? more_grads[i] : A(0));
                }
                if (round < schedule.own) {
                    store_vector<T, ALIGNED>(grad_x, n, columns.first + k * columns.stride, pack<T>(xs));
                }
            }
            grad_x += stride;
        }
    }
    await_copies<0>();
    A *shared = reinterpret_cast<A *>(slots);
    A *partial = a.partial + cluster * (CENTERED ? 2 : 1) * a.columns;
    if (a.grad_weight != nullptr) {
        add_groups<T, ALIGNED, VECTORS>(n, weight_sums, columns, threads, shared, partial);
    }
    if (CENTERED && a.grad_bias != nullptr) {
        add_groups<T, ALIGNED, VECTORS>(n, bias_sums, columns, threads, shared, partial + a.columns);
    }
}

template <bool CENTERED, bool ADDED, bool ALIGNED, bool RUNS, int VECTORS, typename T>
__device__ __forceinline__ void row_gradients(const norm_gradients<T> &a) {
    if constexpr (RUNS) {
        gradients_of_runs<CENTERED, ADDED, VECTORS>(a);
    } else if constexpr (VECTORS > 0) {
        gradients_of_many_rows<CENTERED, ADDED, ALIGNED, VECTORS>(a);
    } else if constexpr (ALIGNED) {
        gradients_of_few_rows<CENTERED, ADDED>(a);
    } else {
        gradients_in_two_reads<CENTERED, ADDED>(a);
    }
}
