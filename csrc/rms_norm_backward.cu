// Gradients of y = x * rstd * weight, rstd = 1 / sqrt(mean(x^2) + eps). With xhat = x * rstd, by the product rule:
//     grad_x      = rstd * (weight * grad_y - xhat * mean(weight * grad_y * xhat)), the mean over the row
//     grad_weight = sum over rows of grad_y * xhat
//
// Many rows, first pass: about one block per multiprocessor, each with several groups of threads, each group with its
// own rows, a fixed set. The next row of x and grad_y is on its way into shared memory while one is worked on; every
// thread copies and reads its own vectors, so copying needs no barrier. Sums for grad_weight stay in registers. At the
// end a block adds its groups up, in order, into one row of `partial`. Long rows are spread over a cluster. Second
// pass: adds the rows of `partial` in order. Few rows: one pass, see backward_of_few_rows. There are no atomics: equal
// inputs give equal bits.
//
// ALIGNED: every row is made of whole, aligned vectors.
// VECTORS: vectors of a row that a thread holds; 0 for rows that fit nowhere: they are read twice and `partial` is
//          summed in place. a.threads threads of a block share a row: up to 32, a power of two, or whole warps.
// FEW:     few rows.
#include "rms_norm_backward.cuh"

#include "reduce.cuh"
#include "vector.cuh"

// Which rows a group of threads takes: `own` of them, a.step rows apart and thus equally misaligned, so that a thread
// meets the same columns in each. All groups of a block take part in as many rounds as the first one.
struct row_schedule {
    int64_t row; // the group's first
    int rounds;
    int own;
};

template <typename T>
__device__ __forceinline__ row_schedule schedule_rows(const rms_norm_backward_args<T> &a, int64_t block_row,
                                                      int group) {
    const int64_t last_round = (a.rounds - 1) * a.step;
    auto rounds_from = [&](int64_t row) {
        return row >= a.step ? 0 : static_cast<int>(a.rounds) - (row + last_round < a.rows ? 0 : 1);
    };
    return {block_row + group, rounds_from(block_row), rounds_from(block_row + group)};
}

// Starts the copy of the vector at `column` of a row into a slot, or clears the slot where there is no such vector.
// What comes of neighbouring rows is harmless, beyond the tensor there is nothing to copy.
template <typename T, bool ALIGNED>
__device__ __forceinline__ void fetch(uint4 *slot, const T *vector, int n, int column, bool wanted, const T *tensor,
                                      int64_t numel) {
    wanted = wanted && column < n;
    if (ALIGNED || !wanted || (vector >= tensor && vector + vector_size<T> <= tensor + numel && is_aligned(vector))) {
        copy_async(slot, vector, wanted);
    } else {
        *slot = load_vector<T, false>(vector - column, n, column);
    }
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

// Adds up, in order, what the groups of a block summed for grad_weight, into a row of `partial`. Groups that share a
// warp meet in shuffles, all others in shared memory.
template <typename T, bool ALIGNED, int VECTORS>
__device__ __forceinline__ void add_groups(const rms_norm_backward_args<T> &a,
                                           acc_t<T> (&sums)[VECTORS][vector_size<T>], const thread_columns &columns,
                                           int threads, acc_t<T> *shared, acc_t<T> *partial) {
    constexpr int SIZE = vector_size<T>;
    const int n = static_cast<int>(a.n);
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

template <typename T, bool ALIGNED, int VECTORS>
__device__ __forceinline__ void backward_rows(const rms_norm_backward_args<T> &a) {
    constexpr int SIZE = vector_size<T>;
    // A warp's part of shared memory: vectors of the weight, then twice those of x and grad_y, [VECTORS][32] each.
    constexpr int GRAD_Y = VECTORS * 32; // from x
    constexpr int ROW = 2 * GRAD_Y;
    extern __shared__ __align__(128) uint4 slots[]; // in whole lines for the copies
    __shared__ group_buffer<acc_t<T>> buffers[2];

    const int n = static_cast<int>(a.n);
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
    columns.first = columns.block_first + (thread / 32 * VECTORS * 32 + thread % 32) * SIZE;
    columns.stride = (ALIGNED ? 32 : min(32, threads)) * SIZE;

    const int weight_slot = threadIdx.x / 32 * (GRAD_Y + 2 * ROW) + threadIdx.x % 32;
    int slot = weight_slot + GRAD_Y; // of the row in work
    int next_slot = slot + ROW;      // of the row on its way
    acc_t<T> sums[VECTORS][SIZE];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        slots[weight_slot + k * 32] = load_vector<T, ALIGNED>(a.weight, n, columns.first + k * columns.stride);
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            sums[k][i] = 0;
        }
    }

    const int64_t stride = a.step * n;
    const T *x = a.x + start + columns.first;
    const T *grad_y = a.grad_y + start + columns.first;
    T *grad_x = a.grad_x + start;
    auto fetch_row = [&](int to, bool wanted) {
#pragma unroll(ALIGNED ? 2 * VECTORS : 1)
        for (int k = 0; k < 2 * VECTORS; k++) {
            const bool of_x = k < VECTORS;
            const int offset = k % VECTORS * columns.stride;
            fetch<T, ALIGNED>(slots + to + k * 32, (of_x ? x : grad_y) + offset, n, columns.first + offset, wanted,
                              of_x ? a.x : a.grad_y, a.rows * n);
        }
        commit_copies();
        x += stride;
        grad_y += stride;
    };
    fetch_row(slot, schedule.own > 0);

    const acc_t<T> inverse_n = acc_t<T>(1) / static_cast<acc_t<T>>(n);
    const acc_t<T> *rstd_of_row = a.rstd + schedule.row;
    acc_t<T> next_rstd = schedule.own > 0 ? *rstd_of_row : acc_t<T>(0);
#pragma unroll 1
    for (int round = 0; round < schedule.rounds; round++) {
        const acc_t<T> rstd = next_rstd;
        const bool more = round + 1 < schedule.own;
        fetch_row(next_slot, more);
        rstd_of_row += a.step;
        next_rstd = more ? *rstd_of_row : acc_t<T>(0); // anywhere but between copies and wait it cost a tenth
        await_copies<1>();

        acc_t<T> xs[SIZE], grads[SIZE], weights[SIZE];
        auto unpack_vector = [&](int k) {
            unpack<T>(slots[slot + k * 32], xs);
            unpack<T>(slots[slot + GRAD_Y + k * 32], grads);
            unpack<T>(slots[weight_slot + k * 32], weights);
        };
        acc_t<T> product = 0; // of weight * grad_y and x
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
                const acc_t<T> term = grads[i] * xs[i];
                sums[k][i] += rstd * term;
                product += weights[i] * term;
            }
        }
        if (a.grad_x != nullptr) {
            product = threads < 32 ? lane_sum(product, threads)
                                   : cluster_sum(product, group, buffers, group_index * group.warps, round);
            const acc_t<T> scale = rstd * (rstd * (rstd * product * inverse_n));
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                if (VECTORS > 1) {
                    unpack_vector(k);
                }
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    xs[i] = rstd * (weights[i] * grads[i]) - scale * xs[i];
                }
                if (round < schedule.own) {
                    store_vector<T, ALIGNED>(grad_x, n, columns.first + k * columns.stride, pack<T>(xs));
                }
            }
            grad_x += stride;
        }
        const int worked = slot;
        slot = next_slot;
        next_slot = worked;
    }
    if (a.grad_weight != nullptr) {
        await_copies<0>();
        __syncthreads();
        add_groups<T, ALIGNED, VECTORS>(a, sums, columns, threads, reinterpret_cast<acc_t<T> *>(slots),
                                        a.partial + cluster * a.columns);
    }
}

// One row by one block, element by element and read twice. `partial` gains the row's part of grad_weight unless null.
template <typename T>
__device__ __forceinline__ void backward_of_row(const rms_norm_backward_args<T> &a, int64_t row, acc_t<T> *partial,
                                                group_buffer<acc_t<T>> (&buffers)[2], int round) {
    constexpr int LOADS = 4; // in flight per thread and tensor
    const acc_t<T> rstd = a.rstd[row];
    acc_t<T> product = 0;
    acc_t<T> mean = 0;
#pragma unroll 1
    for (int read = a.grad_x != nullptr ? 0 : 1; read < 2; read++) {
        const bool add = read == 1 && partial != nullptr && round > 0;
#pragma unroll 1
        for (int64_t first = threadIdx.x; first < a.n; first += LOADS * blockDim.x) {
            acc_t<T> xhat[LOADS], grad_y[LOADS], weight[LOADS], sum[LOADS];
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = min(first + k * blockDim.x, a.n - 1); // no branches between loads
                xhat[k] = to_acc(a.x[row * a.n + i]) * rstd;
                grad_y[k] = to_acc(a.grad_y[row * a.n + i]);
                weight[k] = to_acc(a.weight[i]);
                sum[k] = add ? partial[i] : acc_t<T>(0);
            }
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = first + k * blockDim.x;
                const acc_t<T> weighted = weight[k] * grad_y[k];
                product += i < a.n ? weighted * xhat[k] : acc_t<T>(0);
                if (read == 1 && i < a.n) {
                    if (partial != nullptr) {
                        partial[i] = sum[k] + grad_y[k] * xhat[k];
                    }
                    if (a.grad_x != nullptr) {
                        a.grad_x[row * a.n + i] = from_acc<T>(rstd * (weighted - xhat[k] * mean));
                    }
                }
            }
        }
        if (read == 0) {
            mean = group_sum(product, whole_block(), buffers, 0, round) / static_cast<acc_t<T>>(a.n);
        }
    }
}

template <typename T> __device__ __forceinline__ void backward_in_two_reads(const rms_norm_backward_args<T> &a) {
    __shared__ group_buffer<acc_t<T>> buffers[2];
    acc_t<T> *partial = a.grad_weight != nullptr ? a.partial + blockIdx.x * a.columns : nullptr;
    int round = 0;
    for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x, round++) {
        backward_of_row(a, row, partial, buffers, round);
    }
}

// The sums of SIZE neighbouring columns per lane, over all lanes of a warp with the same columns.
template <int LANES, typename A, int SIZE, int COLUMNS>
__device__ __forceinline__ void store_column_sums(A (&sums)[SIZE], A (*warp_sums)[COLUMNS]) {
#pragma unroll
    for (int j = 0; j < SIZE; j++) {
#pragma unroll
        for (int offset = LANES; offset < 32; offset *= 2) {
            sums[j] += __shfl_xor_sync(0xffffffffu, sums[j], offset);
        }
        if (threadIdx.x % 32 < LANES) {
            warp_sums[threadIdx.x / 32][threadIdx.x % 32 * SIZE + j] = sums[j];
        }
    }
}

// Columns [first, first + WIDTH * LANES) of grad_weight, summed by one block straight from x and grad_y.
template <typename T, int WIDTH, int LANES>
__device__ __forceinline__ void sum_columns(const rms_norm_backward_args<T> &a, int first) {
    constexpr int COLUMNS = WIDTH * LANES;
    constexpr int LOADS = WIDTH > 1 ? 4 : 8; // in flight per thread and tensor
    __shared__ acc_t<T> warp_sums[MAX_WARPS][COLUMNS];
    const int n = static_cast<int>(a.n);
    const int rows = static_cast<int>(a.rows);
    const int column = min(first + int(threadIdx.x) % LANES * WIDTH, n - WIDTH);
    const int step = blockDim.x / LANES;
    acc_t<T> sums[WIDTH] = {};
#pragma unroll 1
    for (int row = threadIdx.x / LANES; row < rows; row += LOADS * step) {
        acc_t<T> rstd[LOADS], x[LOADS][WIDTH], grad_y[LOADS][WIDTH];
#pragma unroll
        for (int k = 0; k < LOADS; k++) {
            const int loaded = min(row + k * step, rows - 1); // no branches between loads
            const int64_t start = int64_t{loaded} * n + column;
            rstd[k] = a.rstd[loaded];
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
                sums[i] += row + k * step < rows ? grad_y[k][i] * (x[k][i] * rstd[k]) : acc_t<T>(0);
            }
        }
    }
    store_column_sums<LANES>(sums, warp_sums);
    __syncthreads();
    const int target = first + threadIdx.x;
    if (threadIdx.x < COLUMNS && target < n) {
        acc_t<T> sum = 0;
#pragma unroll 4
        for (int i = 0; i < int(blockDim.x) / 32; i++) {
            sum += warp_sums[i][threadIdx.x];
        }
        a.grad_weight[target] = from_acc<T>(sum);
    }
}

// grad_x of a row by one block, a vector per thread.
template <typename T>
__device__ __forceinline__ void backward_of_short_row(const rms_norm_backward_args<T> &a, int64_t row,
                                                      group_buffer<acc_t<T>> (&buffers)[2]) {
    constexpr int SIZE = vector_size<T>;
    const int n = static_cast<int>(a.n);
    const int first = threadIdx.x * SIZE;
    acc_t<T> xhat[SIZE], weighted[SIZE], grads[SIZE];
    const acc_t<T> rstd = a.rstd[row];
    unpack<T>(load_vector<T, true>(a.x + row * n, n, first), xhat);
    unpack<T>(load_vector<T, true>(a.grad_y + row * n, n, first), grads);
    unpack<T>(load_vector<T, true>(a.weight, n, first), weighted);
    acc_t<T> product = 0;
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
        xhat[i] *= rstd;
        weighted[i] *= grads[i];
        product += weighted[i] * xhat[i];
    }
    const acc_t<T> mean = group_sum(product, whole_block(), buffers, 0, 0) / static_cast<acc_t<T>>(n);
#pragma unroll
    for (int i = 0; i < SIZE; i++) {
        weighted[i] = rstd * (weighted[i] - xhat[i] * mean);
    }
    store_vector<T, true>(a.grad_x + row * n, n, first, pack<T>(weighted));
}

// Few rows: the first blocks take columns of grad_weight, 128 bytes or 32 columns each, the others a row each. It reads
// the inputs twice but needs no second launch.
template <typename T, bool ALIGNED>
__device__ __forceinline__ void backward_of_few_rows(const rms_norm_backward_args<T> &a) {
    constexpr int WIDTH = ALIGNED ? vector_size<T> : 1;
    constexpr int LANES = ALIGNED ? 8 : 32;
    constexpr int COLUMNS = WIDTH * LANES;
    __shared__ group_buffer<acc_t<T>> buffers[2];
    const int column_blocks = (static_cast<int>(a.n) + COLUMNS - 1) / COLUMNS;
    const int64_t row = int64_t{blockIdx.x} - column_blocks;
    if (row < 0) {
        if (a.grad_weight != nullptr) {
            sum_columns<T, WIDTH, LANES>(a, blockIdx.x * COLUMNS);
        }
    } else if (a.grad_x != nullptr) {
        if constexpr (ALIGNED) {
            backward_of_short_row(a, row, buffers);
        } else {
            backward_of_row<T>(a, row, nullptr, buffers, 0);
        }
    }
}

template <typename T, bool ALIGNED, int VECTORS, bool FEW>
__device__ void rms_norm_backward_rows(const rms_norm_backward_args<T> &a) {
    if constexpr (FEW) {
        backward_of_few_rows<T, ALIGNED>(a);
    } else if constexpr (VECTORS == 0) {
        backward_in_two_reads(a);
    } else {
        backward_rows<T, ALIGNED, VECTORS>(a);
    }
}

// 32 columns per block: the lanes of a warp take several rows of `partial` at once, 128 bytes each, the warps take
// turns.
template <typename T> __device__ void rms_norm_backward_columns(const rms_norm_backward_args<T> &a) {
    constexpr int COLUMNS = 32;
    constexpr int WARPS = 8;
    constexpr int LOADS = 5; // in flight per thread
    using acc = acc_t<T>;
    constexpr int SIZE = vector_size<acc>;
    constexpr int LANES = COLUMNS / SIZE;
    constexpr int STEP = WARPS * 32 / LANES; // rows that the block loads at once
    __shared__ acc warp_sums[WARPS][COLUMNS];
    const int lane = threadIdx.x % LANES;
    const int64_t first = int64_t{blockIdx.x} * COLUMNS + lane * SIZE;
    acc sums[SIZE] = {};
    const int blocks = static_cast<int>(a.blocks);
    for (int row = threadIdx.x / LANES; row < blocks; row += LOADS * STEP) {
        uint4 vectors[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            vectors[i] = make_uint4(0, 0, 0, 0);
            if (row + i * STEP < blocks && first < a.n) {
                vectors[i] = *reinterpret_cast<const uint4 *>(a.partial + (row + i * STEP) * a.columns + first);
            }
        }
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            acc values[SIZE];
            unpack<acc>(vectors[i], values);
#pragma unroll
            for (int j = 0; j < SIZE; j++) {
                sums[j] += values[j];
            }
        }
    }
    store_column_sums<LANES>(sums, warp_sums);
    __syncthreads();
    const int64_t column = int64_t{blockIdx.x} * COLUMNS + threadIdx.x;
    if (threadIdx.x < COLUMNS && column < a.n) {
        acc sum = 0;
#pragma unroll
        for (int i = 0; i < WARPS; i++) {
            sum += warp_sums[i][threadIdx.x];
        }
        a.grad_weight[column] = from_acc<T>(sum);
    }
}
