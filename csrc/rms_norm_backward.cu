// Gradients of y = x * rstd * weight, rstd = 1 / sqrt(mean(x^2) + eps). With xhat = x * rstd, by the product rule:
//     grad_x      = rstd * (weight * grad_y - xhat * mean(weight * grad_y * xhat)), the mean over the row
//     grad_weight = sum over rows of grad_y * xhat
//
// First pass: about one block per multiprocessor, each with several groups of threads, each group with its own rows, a
// fixed set. Asynchronous copies keep the next rows of x and grad_y on their way into shared memory; every thread
// copies and reads its own vectors, so copying needs no barrier. Weights and sums for grad_weight stay in registers.
// At the end a block adds its groups up, in order, into one row of `partial`. Long rows are spread over a cluster.
// Second pass: adds the rows of `partial` in order. There are no atomics: equal inputs give equal bits.
//
// ALIGNED: every row is made of whole, aligned vectors.
// VECTORS: vectors of a row that a thread holds; 0 for rows that fit nowhere: they are read twice and `partial` is
//          summed in place. a.threads threads of a block share a row: up to 32, a power of two, or whole warps.
#include "rms_norm_backward.cuh"

#include "reduce.cuh"
#include "vector.cuh"

// Starts the copy of elements [first, first + size) of a row, those from `start` in the tensor, into a slot.
template <typename T, bool ALIGNED>
__device__ __forceinline__ void fetch(uint4 *slot, const T *tensor, int64_t numel, int64_t start, int n, int first)
{
    constexpr int SIZE = vector_size<T>;
    if (ALIGNED || (start >= 0 && start + SIZE <= numel && is_aligned(tensor + start))) {
        copy_async(slot, tensor + start);
    } else {
#pragma unroll 1
        for (int i = 0; i < SIZE; i++) {
            const bool inside = first + i >= 0 && first + i < n;
            reinterpret_cast<T *>(slot)[i] = inside ? tensor[start + i] : from_acc<T>(0);
        }
    }
}

// Clears what a slot holds of the neighbouring rows.
template <typename T> __device__ __forceinline__ void clear_outside(uint4 *slot, int n, int first)
{
    constexpr int SIZE = vector_size<T>;
    if (first < 0 || first + SIZE > n) {
#pragma unroll 1
        for (int i = 0; i < SIZE; i++) {
            if (first + i < 0 || first + i >= n) {
                reinterpret_cast<T *>(slot)[i] = from_acc<T>(0);
            }
        }
    }
}

template <typename T, bool ALIGNED, int VECTORS>
__device__ __forceinline__ void backward_rows(const rms_norm_backward_args<T> &a)
{
    constexpr int SIZE = vector_size<T>;
    constexpr int STAGES = 6 / VECTORS;
    constexpr int SLOT = 32;                  // a warp's vectors lie side by side
    constexpr int STAGE = 2 * VECTORS * SLOT; // x, then grad_y
    extern __shared__ __align__(128) uint4 ring[]; // [warps][STAGES][2][VECTORS][32], in whole lines for the copies
    __shared__ group_buffer<acc_t<T>> buffers[2];

    const int n = static_cast<int>(a.n);
    const int threads = static_cast<int>(a.threads); // of this block that share a row
    const int groups = blockDim.x / threads;
    const int group_index = threadIdx.x / threads;
    const int thread = threadIdx.x % threads;
    const int64_t cluster = cluster_index();
    const bool alone = VECTORS == 1; // such rows need no cluster
    const warp_group group = {threads / 32, thread / 32, 1 + group_index, alone ? 1 : cluster_blocks(),
                              alone ? 0 : cluster_rank()};
    if (group.blocks > 1) {
        prepare_cluster(buffers);
    }

    // Rows of a group must be equally misaligned, for its vectors to meet the same columns in each.
    int64_t step = a.blocks * groups;
    if (!ALIGNED && step > SIZE) {
        step -= step % SIZE;
    }
    // Every group of the block takes part in as many rounds as the first group has rows.
    const int64_t first_row = cluster * groups;
    const int rounds = first_row < min(step, a.rows) ? static_cast<int>((a.rows - first_row - 1) / step) + 1 : 0;
    const int64_t row = first_row + group_index;
    int left = row >= step ? 0 : row + (rounds - 1) * step < a.rows ? rounds : rounds - 1;

    const bool shifted = !ALIGNED && n % SIZE != 0;
    const int shift = row_shift<T, ALIGNED>(a.x + row * n, n);
    const int block_first = group.rank * VECTORS * threads * SIZE - shift;
    const int first = block_first + (thread / 32 * VECTORS * 32 + thread % 32) * SIZE; // a warp's vectors are neighbours
    if (VECTORS == 1 && first >= n) {
        left = 0;
    }

    acc_t<T> weight[VECTORS == 1 ? SIZE : 1]; // kept unpacked where there are registers for it
    uint4 packed_weight[VECTORS];
    acc_t<T> sums[VECTORS][SIZE];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        packed_weight[k] = load_vector<T, ALIGNED, false>(a.weight, n, first + k * 32 * SIZE);
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            sums[k][i] = 0;
        }
    }
    if constexpr (VECTORS == 1) {
        unpack<T>(packed_weight[0], weight);
    }

    uint4 *const slots = ring + threadIdx.x / 32 * STAGES * STAGE + threadIdx.x % 32;
    const int64_t stride = step * n;
    int64_t fetched = row * n + first;
    auto fetch_row = [&](uint4 *stage, bool wanted) {
        if (wanted) {
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                const int column = first + k * 32 * SIZE;
                if (VECTORS == 1 || column < n) {
                    const int64_t start = fetched + k * 32 * SIZE;
                    fetch<T, ALIGNED>(stage + k * SLOT, a.x, a.rows * n, start, n, column);
                    fetch<T, ALIGNED>(stage + (VECTORS + k) * SLOT, a.grad_y, a.rows * n, start, n, column);
                }
            }
        }
        fetched += stride;
        commit_copies();
    };
#pragma unroll 1
    for (int i = 0; i < STAGES - 1; i++) {
        fetch_row(slots + i * STAGE, left > i);
    }

    // xhat and weight * grad_y of vector k of the oldest row; adds to the weight's sums at the first time.
    int stage = 0;
    auto terms = [&](int k, acc_t<T> rstd, acc_t<T>(&xhat)[SIZE], acc_t<T>(&weighted)[SIZE], bool add) {
        acc_t<T> grad_y[SIZE];
        unpack<T>(slots[stage + k * SLOT], xhat);
        unpack<T>(slots[stage + (VECTORS + k) * SLOT], grad_y);
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
    acc_t<T> following = left > 0 ? *next_rstd : acc_t<T>(0);
    int64_t stored = row * n;
    for (int round = 0; round < rounds; round++, left--) {
        const acc_t<T> rstd = following;
        next_rstd += step;
        following = left > 1 ? *next_rstd : acc_t<T>(0);
        fetch_row(slots + (stage == 0 ? (STAGES - 1) * STAGE : stage - STAGE), left > STAGES - 1);
        await_copies<STAGES - 1>();

        acc_t<T> xhat[SIZE], weighted[SIZE];
        acc_t<T> product = 0;
        if (left > 0) {
#pragma unroll
            for (int k = 0; k < VECTORS; k++) {
                const int column = first + k * 32 * SIZE;
                if (VECTORS == 1 || column < n) {
                    if (shifted) {
                        clear_outside<T>(slots + stage + k * SLOT, n, column);
                        clear_outside<T>(slots + stage + (VECTORS + k) * SLOT, n, column);
                    }
                    terms(k, rstd, xhat, weighted, true);
#pragma unroll
                    for (int i = 0; i < SIZE; i++) {
                        product += weighted[i] * xhat[i];
                    }
                }
            }
        }
        if (a.grad_x != nullptr) {
            if (VECTORS == 1 && threads <= 32) {
                product = lane_sum(product, threads);
            } else {
                product = group_sum(product, group, buffers, group_index * group.warps, round);
            }
            const acc_t<T> mean = product * inverse_n;
            if (left > 0) {
#pragma unroll
                for (int k = 0; k < VECTORS; k++) {
                    if (VECTORS > 1) {
                        terms(k, rstd, xhat, weighted, false);
                    }
#pragma unroll
                    for (int i = 0; i < SIZE; i++) {
                        weighted[i] = rstd * (weighted[i] - xhat[i] * mean);
                    }
                    store_vector<T, ALIGNED>(a.grad_x + stored, n, first + k * 32 * SIZE, pack<T>(weighted));
                }
            }
        }
        stored += stride;
        stage = stage == (STAGES - 1) * STAGE ? 0 : stage + STAGE;
    }
    if (a.grad_weight == nullptr) {
        return;
    }

    // The block's groups meet in shared memory, each with the columns of this block. Where several groups with equal
    // columns share a warp, shuffles add them up first.
    int set = threads;
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
    acc_t<T> *partial = a.partial + cluster * n;
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

template <typename T> __device__ __forceinline__ void backward_in_two_reads(const rms_norm_backward_args<T> &a)
{
    __shared__ group_buffer<acc_t<T>> buffers[2];
    constexpr int SIZE = vector_size<T>;
    acc_t<T> *partial = a.partial + blockIdx.x * a.n;

    int round = 0;
    for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x, round++) {
        const T *x_row = a.x + row * a.n;
        const T *grad_y_row = a.grad_y + row * a.n;
        const acc_t<T> rstd = a.rstd[row];
        // Vectors start at the same column in each row, so that a thread meets its own sums again.
        const int64_t column = int64_t{threadIdx.x} * SIZE;
        acc_t<T> mean = 0;
        if (a.grad_x != nullptr) {
            acc_t<T> product = 0;
            for (int64_t first = column; first < a.n; first += blockDim.x * SIZE) {
                acc_t<T> xs[SIZE], grads[SIZE], weights[SIZE];
                unpack<T>(load_vector<T, false, false>(x_row, a.n, first), xs);
                unpack<T>(load_vector<T, false, false>(grad_y_row, a.n, first), grads);
                unpack<T>(load_vector<T, false, false>(a.weight, a.n, first), weights);
#pragma unroll
                for (int i = 0; i < SIZE; i++) {
                    product += weights[i] * grads[i] * (xs[i] * rstd);
                }
            }
            mean = group_sum(product, whole_block(), buffers, 0, round) / static_cast<acc_t<T>>(a.n);
        }
        for (int64_t first = column; first < a.n; first += blockDim.x * SIZE) {
            acc_t<T> xs[SIZE], grads[SIZE], weights[SIZE];
            unpack<T>(load_vector<T, false, true>(x_row, a.n, first), xs);
            unpack<T>(load_vector<T, false, true>(grad_y_row, a.n, first), grads);
            unpack<T>(load_vector<T, false, false>(a.weight, a.n, first), weights);
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                const acc_t<T> xhat = xs[i] * rstd;
                if (a.grad_weight != nullptr && first + i < a.n) {
                    acc_t<T> *sum = partial + first + i;
                    *sum = (row < gridDim.x ? acc_t<T>(0) : *sum) + grads[i] * xhat;
                }
                grads[i] = rstd * (weights[i] * grads[i] - xhat * mean);
            }
            if (a.grad_x != nullptr) {
                store_vector<T, false>(a.grad_x + row * a.n, a.n, first, pack<T>(grads));
            }
        }
    }
}

template <typename T, bool ALIGNED, int VECTORS>
__device__ void rms_norm_backward_rows(const rms_norm_backward_args<T> &a)
{
    if constexpr (VECTORS == 0) {
        backward_in_two_reads(a);
    } else {
        backward_rows<T, ALIGNED, VECTORS>(a);
    }
}

// 32 columns per block; its warps take every warps-th row of `partial`, then one warp adds the warps' sums.
template <typename T> __device__ void rms_norm_backward_columns(const rms_norm_backward_args<T> &a)
{
    constexpr int LOADS = 8; // in flight per thread
    __shared__ acc_t<T> sums[MAX_WARPS][32];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int warps = blockDim.x / 32;
    const int64_t column = int64_t{blockIdx.x} * 32 + lane;
    acc_t<T> sum = 0;
    for (int64_t row = warp; row < a.blocks; row += warps * LOADS) {
        acc_t<T> values[LOADS];
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            const int64_t loaded = row + i * warps;
            values[i] = loaded < a.blocks && column < a.n ? a.partial[loaded * a.n + column] : acc_t<T>(0);
        }
#pragma unroll
        for (int i = 0; i < LOADS; i++) {
            sum += values[i];
        }
    }
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp == 0 && column < a.n) {
        for (int i = 1; i < warps; i++) {
            sum += sums[i][lane];
        }
        a.grad_weight[column] = from_acc<T>(sum);
    }
}
