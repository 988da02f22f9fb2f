// Gradients of y = x * rstd * weight, rstd = 1 / sqrt(mean(x^2) + eps). With xhat = x * rstd, by the product rule:
//     grad_x      = rstd * (weight * grad_y - xhat * mean(weight * grad_y * xhat)), the mean over the row
//     grad_weight = sum over rows of grad_y * xhat
//
// Many rows, first pass: about one block per multiprocessor, each with several groups of threads, each group with its
// own rows, a fixed set. Asynchronous copies keep the next rows of x and grad_y on their way into shared memory; every
// thread copies and reads its own vectors, so copying needs no barrier. Weights and sums for grad_weight stay in
// registers. At the end a block adds its groups up, in order, into one row of `partial`. Long rows are spread over a
// cluster. Second pass: adds the rows of `partial` in order. Few rows: one pass, see backward_of_few_rows. There are no
// atomics: equal inputs give equal bits.
//
// ALIGNED: every row is made of whole, aligned vectors.
// VECTORS: vectors of a row that a thread holds; 0 for rows that fit nowhere: they are read twice and `partial` is
//          summed in place. a.threads threads of a block share a row: up to 32, a power of two, or whole warps.
// LANES:   a row takes at most a warp, which may hold several.
// FEW:     few rows.
#include "rms_norm_backward.cuh"

#include "reduce.cuh"
#include "vector.cuh"

// Starts the copy of the vector at `column` of a row, at `start` in the tensor, into a slot.
template <typename T, bool ALIGNED>
__device__ __forceinline__ void fetch(uint4 *slot, const T *tensor, int64_t numel, int64_t start, int n, int column) {
    if (ALIGNED || (start >= 0 && start + vector_size<T> <= numel && is_aligned(tensor + start))) {
        copy_async(slot, tensor + start);
    } else {
        *slot = load_vector<T, false, false>(tensor + (start - column), n, column);
    }
}

// Stores those elements of the vector at `column` that lie in the row.
template <typename T> __device__ __forceinline__ void store_elements(T *vector, const T *slot, int n, int column) {
#pragma unroll 1
    for (int i = 0; i < vector_size<T>; i++) {
        if (column + i >= 0 && column + i < n) {
            vector[i] = slot[i];
        }
    }
}

// Clears what a slot holds of the neighbouring rows.
template <typename T> __device__ __forceinline__ void clear_outside(uint4 *slot, int n, int column) {
    if (column < 0 || column + vector_size<T> > n) {
#pragma unroll 1
        for (int i = 0; i < vector_size<T>; i++) {
            if (column + i < 0 || column + i >= n) {
                reinterpret_cast<T *>(slot)[i] = from_acc<T>(0);
            }
        }
    }
}

template <typename T, bool ALIGNED, bool LANES, int VECTORS>
__device__ __forceinline__ void backward_rows(const rms_norm_backward_args<T> &a) {
    constexpr int SIZE = vector_size<T>;
    constexpr int STAGES = 6 / VECTORS;
    constexpr int SLOT = 32;                       // a warp's vectors lie side by side
    constexpr int STAGE = 2 * VECTORS * SLOT;      // x, then grad_y
    extern __shared__ __align__(128) uint4 ring[]; // [warps][STAGES][2][VECTORS][32], in whole lines for the copies
    __shared__ group_buffer<acc_t<T>> buffers[2];

    const int n = static_cast<int>(a.n);
    const int threads = static_cast<int>(a.threads); // of this block that share a row
    const int groups = blockDim.x / threads;
    const int group_index = threadIdx.x / threads;
    const int thread = threadIdx.x % threads;
    constexpr bool ALONE = VECTORS == 1; // such rows need no cluster
    const warp_group group = {threads / 32, thread / 32, 1 + group_index, ALONE ? 1 : cluster_blocks(),
                              ALONE ? 0 : cluster_rank()};
    const int64_t cluster = ALONE ? blockIdx.x : cluster_index();
    if (group.blocks > 1) {
        announce_block(buffers);
        await_cluster();
    }

    // Every group of the block takes part in as many rounds as the first one has rows. Rows of a group are a.step rows
    // apart: equally misaligned, so that a thread meets the same columns in each.
    const int64_t first_row = cluster * groups;
    const int64_t row = first_row + group_index;
    const int64_t last_round = (a.rounds - 1) * a.step;
    const int rounds = first_row >= a.step ? 0 : static_cast<int>(a.rounds) - (first_row + last_round < a.rows ? 0 : 1);
    int own_rounds = row >= a.step ? 0 : static_cast<int>(a.rounds) - (row + last_round < a.rows ? 0 : 1);

    const int shift = row_shift<T, ALIGNED>(a.x + row * n, n);
    const int block_first = group.rank * VECTORS * threads * SIZE - shift;
    const int first =
        block_first + (thread / 32 * VECTORS * 32 + thread % 32) * SIZE; // a warp's vectors are neighbours
    if (VECTORS == 1 && first >= n) {
        own_rounds = 0;
    }

    uint4 *const slots = ring + threadIdx.x / 32 * STAGES * STAGE + threadIdx.x % 32;

    acc_t<T> weight[VECTORS == 1 ? SIZE : 1]; // kept unpacked where there are registers for it
    uint4 packed_weight[VECTORS];
    acc_t<T> sums[VECTORS][SIZE];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        const int column = first + k * 32 * SIZE;
        packed_weight[k] = load_vector<T, ALIGNED, false>(a.weight, n, column);
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            sums[k][i] = 0;
        }
    }
    if constexpr (VECTORS == 1) {
        unpack<T>(packed_weight[0], weight);
    }

    const int64_t stride = a.step * n;
    int64_t fetched = row * n + first;
    auto fetch_row = [&](int stage, bool wanted) {
        if (wanted) {
#pragma unroll(ALIGNED ? VECTORS : 1)
            for (int k = 0; k < VECTORS; k++) {
                const int column = first + k * 32 * SIZE;
                if (VECTORS == 1 || column < n) {
                    const int64_t start = fetched + k * 32 * SIZE;
                    fetch<T, ALIGNED>(slots + stage * STAGE + k * SLOT, a.x, a.rows * n, start, n, column);
                    fetch<T, ALIGNED>(slots + stage * STAGE + (VECTORS + k) * SLOT, a.grad_y, a.rows * n, start, n,
                                      column);
                }
            }
        }
        fetched += stride;
        commit_copies();
    };
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++) {
        fetch_row(i, own_rounds > i);
    }

    // xhat and weight * grad_y of vector k of the oldest row; adds to the weight's sums at the first time.
    int stage = 0;
    auto terms = [&](int k, acc_t<T> rstd, acc_t<T>(&xhat)[SIZE], acc_t<T>(&weighted)[SIZE], bool add) {
        acc_t<T> grad_y[SIZE];
        unpack<T>(slots[stage * STAGE + k * SLOT], xhat);
        unpack<T>(slots[stage * STAGE + (VECTORS + k) * SLOT], grad_y);
        if constexpr (VECTORS > 1) {
            unpack<T>(packed_weight[k], weighted);
        }
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            xhat[i] *= rstd;
            if (add) {
                sums[k][i] += grad_y[i] * xhat[i];
            }
            weighted[i] = (VECTORS == 1 ? weight[i] : weighted[i]) * grad_y[i];
        }
    };

    const acc_t<T> inverse_n = acc_t<T>(1) / static_cast<acc_t<T>>(n);
    const acc_t<T> *next_rstd = a.rstd + row;
    acc_t<T> following = own_rounds > 0 ? *next_rstd : acc_t<T>(0); // loaded one round ahead
    int64_t stored = row * n;
    for (int round = 0; round < rounds; round++) {
        const acc_t<T> rstd = following;
        fetch_row(stage == 0 ? STAGES - 1 : stage - 1, round + STAGES - 1 < own_rounds);
        // Behind the copies: with this load in front of them a tenth of the bandwidth was lost.
        next_rstd += a.step;
        following = round + 1 < own_rounds ? *next_rstd : acc_t<T>(0);
        await_copies<STAGES - 1>();

        acc_t<T> xhat[SIZE], weighted[SIZE];
        acc_t<T> product = 0;
        if (round < own_rounds) {
            // Vectors at the ends of a row may hold a part of its neighbours.
            if (!ALIGNED) {
#pragma unroll 1
                for (int k = 0; k < 2 * VECTORS; k++) {
                    clear_outside<T>(slots + stage * STAGE + k * SLOT, n, first + k % VECTORS * 32 * SIZE);
                }
            }
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                if (VECTORS == 1 || first + k * 32 * SIZE < n) {
                    terms(k, rstd, xhat, weighted, true);
#pragma unroll
                    for (int i = 0; i < SIZE; i++) {
                        product += weighted[i] * xhat[i];
                    }
                }
            }
        }
        if (a.grad_x != nullptr) {
            if (LANES || (!ALIGNED && threads < 32)) {
                product = lane_sum(product, threads);
            } else if constexpr (ALONE) {
                product = group_sum(product, group, buffers, group_index * group.warps, round);
            } else {
                product = cluster_sum(product, group, buffers, group_index * group.warps, round);
            }
            const acc_t<T> mean = product * inverse_n;
            if (round < own_rounds) {
#pragma unroll
                for (int k = 0; k < VECTORS; k++) {
                    if (VECTORS > 1) {
                        terms(k, rstd, xhat, weighted, false);
                    }
#pragma unroll
                    for (int i = 0; i < SIZE; i++) {
                        weighted[i] = rstd * (weighted[i] - xhat[i] * mean);
                    }
                    const int column = first + k * 32 * SIZE;
                    T *target = a.grad_x + stored + column;
                    if (ALIGNED ? column < n : column >= 0 && column + SIZE <= n && is_aligned(target)) {
                        __stcs(reinterpret_cast<uint4 *>(target), pack<T>(weighted));
                    } else if (!ALIGNED) {
                        slots[stage * STAGE + k * SLOT] = pack<T>(weighted);
                        store_elements(target, reinterpret_cast<const T *>(slots + stage * STAGE + k * SLOT), n,
                                       column);
                    }
                }
            }
        }
        stored += stride;
        stage = stage == STAGES - 1 ? 0 : stage + 1;
    }
    if (a.grad_weight == nullptr) {
        return;
    }

    // The block's groups meet in shared memory, each with the columns of this block. Where several groups with equal
    // columns share a warp, shuffles add them up first.
    int set = threads;
    if constexpr (LANES) {
#pragma unroll 1
        for (; set < 32; set *= 2) {
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                sums[0][i] += __shfl_xor_sync(0xffffffffu, sums[0][i], set);
            }
        }
    }
    const int sets = blockDim.x / set;
    const int origin = groups == 1 ? block_first : 0;
    const int columns = groups == 1 ? VECTORS * threads * SIZE : n;
    acc_t<T> *set_sums = reinterpret_cast<acc_t<T> *>(ring);
    await_copies<0>();
    __syncthreads();
    if (threadIdx.x % set < threads) {
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            const int column = first + k * 32 * SIZE;
            acc_t<T> *target = set_sums + threadIdx.x / set * columns + (column - origin);
            if constexpr (ALIGNED) {
                if (column < n) {
#pragma unroll
                    for (int i = 0; i < SIZE; i += 4) {
                        *reinterpret_cast<float4 *>(target + i) =
                            make_float4(sums[k][i], sums[k][i + 1], sums[k][i + 2], sums[k][i + 3]);
                    }
                }
            } else {
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    if (column + i >= 0 && column + i < n) {
                        target[i] = sums[k][i];
                    }
                }
            }
        }
    }
    __syncthreads();
    acc_t<T> *partial = a.partial + cluster * a.columns;
#pragma unroll 1
    for (int i = threadIdx.x; i < columns; i += blockDim.x) {
        if (origin + i >= 0 && origin + i < n) {
            acc_t<T> sum = set_sums[i];
#pragma unroll 4
            for (int j = 1; j < sets; j++) {
                sum += set_sums[j * columns + i];
            }
            partial[origin + i] = sum;
        }
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

// Few rows: the first blocks sum the columns of grad_weight straight from x and grad_y, 128 bytes or 32 columns each,
// the others take a row each. It reads the inputs twice but needs no second launch.
template <typename T, bool ALIGNED>
__device__ __forceinline__ void backward_of_few_rows(const rms_norm_backward_args<T> &a) {
    constexpr int SIZE = vector_size<T>;
    constexpr int WIDTH = ALIGNED ? SIZE : 1; // columns of a thread
    constexpr int LANES = ALIGNED ? 8 : 32;   // that share a row
    constexpr int COLUMNS = LANES * WIDTH;
    __shared__ group_buffer<acc_t<T>> buffers[2];
    __shared__ acc_t<T> warp_sums[MAX_WARPS][COLUMNS];
    const int n = static_cast<int>(a.n);
    const int rows = static_cast<int>(a.rows);
    const int column_blocks = (n + COLUMNS - 1) / COLUMNS;
    if (int(blockIdx.x) < column_blocks) {
        if (a.grad_weight == nullptr) {
            return;
        }
        const int first = blockIdx.x * COLUMNS + threadIdx.x % LANES * WIDTH;
        constexpr int LOADS = 8 / (ALIGNED ? 2 : 1); // in flight per thread and tensor
        const int step = blockDim.x / LANES;
        acc_t<T> sums[WIDTH] = {};
#pragma unroll 1
        for (int row = threadIdx.x / LANES; row < rows; row += LOADS * step) {
            acc_t<T> rstd[LOADS], x[LOADS][WIDTH], grad_y[LOADS][WIDTH];
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int loaded = min(row + k * step, rows - 1); // no branches between loads
                const int64_t start = int64_t{loaded} * n + min(first, n - WIDTH);
                rstd[k] = a.rstd[loaded];
                if constexpr (ALIGNED) {
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
        const int column = blockIdx.x * COLUMNS + threadIdx.x;
        if (threadIdx.x < COLUMNS && column < n) {
            acc_t<T> sum = 0;
#pragma unroll 4
            for (int i = 0; i < int(blockDim.x) / 32; i++) {
                sum += warp_sums[i][threadIdx.x];
            }
            a.grad_weight[column] = from_acc<T>(sum);
        }
    } else if (a.grad_x != nullptr) {
        const int64_t row = blockIdx.x - column_blocks;
        if constexpr (ALIGNED) {
            const int first = threadIdx.x * SIZE;
            acc_t<T> xhat[SIZE], weighted[SIZE], grads[SIZE];
            const acc_t<T> rstd = a.rstd[row];
            unpack<T>(load_vector<T, true, false>(a.x + row * n, n, first), xhat);
            unpack<T>(load_vector<T, true, false>(a.grad_y + row * n, n, first), grads);
            unpack<T>(load_vector<T, true, false>(a.weight, n, first), weighted);
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
        } else {
            backward_of_row<T>(a, row, nullptr, buffers, 0);
        }
    }
}

template <typename T, bool ALIGNED, int VECTORS, bool LANES, bool FEW>
__device__ void rms_norm_backward_rows(const rms_norm_backward_args<T> &a) {
    if constexpr (FEW) {
        backward_of_few_rows<T, ALIGNED>(a);
    } else if constexpr (VECTORS == 0) {
        backward_in_two_reads(a);
    } else {
        backward_rows<T, ALIGNED, LANES, VECTORS>(a);
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
