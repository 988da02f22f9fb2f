// Gradients of y = softmax(scale * x + bias): with p = sum(grad_y * y) / sum(y) over the row,
//     grad_bias = y * (grad_y - p)    grad_x = scale * grad_bias
// The sum of y is 1 but for rounding, and 2 - sum(y) stands for its inverse: without it the gradients of a row would
// not add up to 0. grad_bias is in acc_t, since what was broadcast gets the sum of many of them.
//
// y and grad_y are read once, and stay in registers while the sum is found, 4 VECTORS and more of each in shared
// memory. How rows are shared among threads, and what ALIGNED, VECTORS and ROWS mean, is as in softmax.cu.
#include "softmax_backward.cuh"

#include "row_part.cuh"
#include "run_shares.cuh"
#include "staged_rows.cuh"

// 0 where there is no such row.
template <typename T> __device__ __forceinline__ int row_limit(const softmax_backward_args<T> &a, int64_t row) {
    return row < a.rows ? static_cast<int>(causal_limit(a.causal, row, a.m, a.n)) : 0;
}

// p, out of the sums of grad_y * y and of y.
template <typename A> __device__ __forceinline__ A row_mean(const two<A> &sums) {
    return sums.first * (2 - sums.second);
}

// The elements of a vector of T, stored in acc_t.
template <typename T, bool ALIGNED>
__device__ __forceinline__ void store_sums(acc_t<T> *row, int n, int column, const acc_t<T> (&values)[vector_size<T>]) {
    constexpr int SIZE = vector_size<acc_t<T>>;
#pragma unroll
    for (int i = 0; i < vector_size<T>; i += SIZE) {
        acc_t<T> part[SIZE];
#pragma unroll
        for (int j = 0; j < SIZE; j++) {
            part[j] = values[i + j];
        }
        store_vector<acc_t<T>, ALIGNED>(row, n, column + i, pack<acc_t<T>>(part));
    }
}

// The vectors of a row that a thread holds.
template <typename T, bool ALIGNED, int VECTORS> struct backward_part {
    uint4 y[VECTORS];
    uint4 grad_y[VECTORS];

    __device__ __forceinline__ void load(const softmax_backward_args<T> &a, int64_t row, int limit, int first,
                                         int stride) {
        const int64_t numel = a.rows * a.n;
        const T *y_row = a.y + row * a.n;
        const T *grad_row = a.grad_y + row * a.n;
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            y[k] = load_row_vector<T, ALIGNED>(a.y, numel, y_row, limit, first + k * stride);
            grad_y[k] = load_row_vector<T, ALIGNED>(a.grad_y, numel, grad_row, limit, first + k * stride);
        }
    }

    // Both as numbers, zero where a column does not take part.
    __device__ __forceinline__ void unpack_vector(int k, int limit, int column, acc_t<T> (&ys)[vector_size<T>],
                                                  acc_t<T> (&grads)[vector_size<T>]) const {
        unpack<T>(y[k], ys);
        unpack<T>(grad_y[k], grads);
        if (column + vector_size<T> > limit || (!ALIGNED && column < 0)) {
#pragma unroll
            for (int i = 0; i < vector_size<T>; i++) {
                const bool inside = column + i >= 0 && column + i < limit;
                ys[i] = inside ? ys[i] : acc_t<T>(0);
                grads[i] = inside ? grads[i] : acc_t<T>(0);
            }
        }
    }

    __device__ __forceinline__ two<acc_t<T>> sums(int limit, int first, int stride) const {
        two<acc_t<T>> total = {};
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            acc_t<T> ys[vector_size<T>], grads[vector_size<T>];
            unpack_vector(k, limit, first + k * stride, ys, grads);
            two<acc_t<T>> sum = {}; // a chain of additions for each vector
#pragma unroll
            for (int i = 0; i < vector_size<T>; i++) {
                sum += {ys[i] * grads[i], ys[i]};
            }
            total += sum;
        }
        return total;
    }

    __device__ __forceinline__ void store(const softmax_backward_args<T> &a, int64_t row, int limit, int first,
                                          int stride, acc_t<T> mean) const {
        const int n = static_cast<int>(a.n);
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            const int column = first + k * stride;
            acc_t<T> ys[vector_size<T>], grads[vector_size<T>];
            unpack_vector(k, limit, column, ys, grads);
#pragma unroll
            for (int i = 0; i < vector_size<T>; i++) {
                // 0 * (0 - mean) is not 0 where the mean is infinite or NaN.
                grads[i] = column + i < limit ? ys[i] * (grads[i] - mean) : acc_t<T>(0);
            }
            if (a.grad_bias != nullptr) {
                store_sums<T, ALIGNED>(a.grad_bias + row * a.n, n, column, grads);
            }
            if (a.grad_x != nullptr) {
#pragma unroll
                for (int i = 0; i < vector_size<T>; i++) {
                    grads[i] *= a.scale;
                }
                store_vector<T, ALIGNED>(a.grad_x + row * a.n, n, column, pack<T>(grads));
            }
        }
    }
};

// What a thread holds of a row: see row_part.cuh.
template <typename T_, bool ALIGNED, int VECTORS> struct backward_row : backward_part<T_, ALIGNED, VECTORS> {
    using T = T_;
    using shared = two<acc_t<T>>;
    using part = row_part<T, ALIGNED>;

    int limit;

    struct columns {
        __device__ __forceinline__ void load(const softmax_backward_args<T> &, const part &) {}
    };

    __device__ __forceinline__ void load(const softmax_backward_args<T> &a, int64_t row, const part &p) {
        limit = row_limit(a, row);
        backward_part<T, ALIGNED, VECTORS>::load(a, row, limit, p.first, p.stride);
    }

    template <typename Group>
    __device__ __forceinline__ void finish(const softmax_backward_args<T> &a, int64_t row, const part &p,
                                           const columns &, Group &group) const {
        const shared sums = group.sum(this->sums(limit, p.first, p.stride));
        if (row < a.rows) {
            this->store(a, row, limit, p.first, p.stride, row_mean(sums));
        }
    }
};

// A row in shared memory: vectors of y, then those of grad_y.
template <typename T_, bool ALIGNED, int VECTORS> struct backward_row_in_shared {
    using T = T_;
    using shared = two<acc_t<T>>;
    using part = row_part<T, ALIGNED>;

    const uint4 *slots; // 32 apart

    struct columns {
        __device__ __forceinline__ void load(const softmax_backward_args<T> &, const part &) {}
    };

    __device__ __forceinline__ void load(const softmax_backward_args<T> &, int64_t, const part &) {}

    __device__ __forceinline__ backward_part<T, ALIGNED, 1> vector(int k) const {
        return {{slots[k * 32]}, {slots[(VECTORS + k) * 32]}};
    }

    __device__ __forceinline__ void finish(const softmax_backward_args<T> &a, int64_t row, const part &p,
                                           const columns &, block_group<shared> &group) const {
        const int limit = row_limit(a, row);
        shared own = {};
#pragma unroll 1
        for (int k = 0; k < VECTORS; k++) {
            own += vector(k).sums(limit, p.column(k), 0);
        }
        const acc_t<T> mean = row_mean(group.sum(own));
#pragma unroll 1
        for (int k = 0; k < VECTORS; k++) {
            vector(k).store(a, row, limit, p.column(k), 0, mean);
        }
    }
};

template <typename T> __device__ __forceinline__ void backward_of_staged_rows(const softmax_backward_args<T> &a) {
    constexpr int ELEMENTS = stage_elements<T>;
    __shared__ stage<T> shared_y, shared_grad; // grad_x replaces grad_y
    const staged_part p(a);
    stage_in(shared_y, a.y + p.start, p.count);
    stage_in(shared_grad, a.grad_y + p.start, p.count);
    __syncthreads();

    const int limit = row_limit(a, p.row);
    const T *y = shared_y.at(a.y + p.start) + p.offset;
    T *grad_y = shared_grad.at(a.grad_y + p.start) + p.offset;
    acc_t<T> ys[ELEMENTS], grads[ELEMENTS];
    two<acc_t<T>> sums = {};
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        ys[k] = 0;
        grads[k] = 0;
        if (p.reaches(k)) {
            const int column = p.column(k);
            ys[k] = column < limit ? to_acc(y[column]) : acc_t<T>(0);
            grads[k] = column < limit ? to_acc(grad_y[column]) : acc_t<T>(0);
            sums += {ys[k] * grads[k], ys[k]};
        }
    }
    const acc_t<T> mean = row_mean(lane_sum(sums, p.lanes));
#pragma unroll
    for (int k = 0; k < ELEMENTS; k++) {
        const int column = p.column(k);
        if (column < p.n && p.row < a.rows) {
            const acc_t<T> grad = column < limit ? ys[k] * (grads[k] - mean) : acc_t<T>(0);
            grad_y[column] = from_acc<T>(a.scale * grad);
            if (a.grad_bias != nullptr) {
                a.grad_bias[p.row * p.n + column] = grad;
            }
        }
    }
    if (a.grad_x != nullptr) {
        stage_out(shared_grad, a.grad_y + p.start, a.grad_x + p.start, p.count);
    }
}

// Without a gradient of a bias or a causal limit.
template <int VECTORS, typename T> __device__ __forceinline__ void backward_of_runs(const softmax_backward_args<T> &a) {
    using A = acc_t<T>;
    constexpr int SIZE = vector_size<T>;
    const bool aligned = is_aligned(a.y) && is_aligned(a.grad_y) && is_aligned(a.grad_x);
    row_run<T, VECTORS> run(a.rows, a.n, a.slab, aligned);
    run.for_each([&] {
        uint4 y[VECTORS], grad[VECTORS];
        run.load(a.y, y);
        run.load(a.grad_y, grad);
        two<A> firsts[VECTORS], nexts[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            A ys[SIZE], grads[SIZE];
            unpack<T>(y[k], ys);
            unpack<T>(grad[k], grads);
            firsts[k] = {};
            nexts[k] = {};
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                if (run.first(i)) {
                    firsts[k] += {ys[i] * grads[i], ys[i]};
                } else {
                    nexts[k] += {ys[i] * grads[i], ys[i]};
                }
            }
        }
        run.put_together(firsts, nexts, [](const row_shares<two<A>> &row) {
            return two<A>{row_mean(sum_of_shares<two<A>>()(row)), A(0)};
        });
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            A ys[SIZE], grads[SIZE];
            unpack<T>(y[k], ys);
            unpack<T>(grad[k], grads);
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                grads[i] = a.scale * (ys[i] * (grads[i] - (run.first(i) ? firsts[k].first : nexts[k].first)));
            }
            grad[k] = pack<T>(grads);
        }
        run.store(a.grad_x, grad);
    });
}

template <typename T> __device__ __forceinline__ void backward_in_two_reads(const softmax_backward_args<T> &a) {
    constexpr int LOADS = 8; // in flight per thread and tensor
    __shared__ group_buffer<two<acc_t<T>>> buffers[2];
    const int64_t row = blockIdx.x;
    const int64_t limit = causal_limit(a.causal, row, a.m, a.n);
    const T *y = a.y + row * a.n;
    const T *grad_y = a.grad_y + row * a.n;
    two<acc_t<T>> own = {};
    acc_t<T> mean = 0;
#pragma unroll 1
    for (int read = 0; read < 2; read++) {
#pragma unroll 1
        for (int64_t first = threadIdx.x; first < a.n; first += LOADS * blockDim.x) {
            acc_t<T> ys[LOADS], grads[LOADS];
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = min(first + k * blockDim.x, a.n - 1); // no branches between loads
                ys[k] = to_acc(y[i]);
                grads[k] = to_acc(grad_y[i]);
            }
#pragma unroll
            for (int k = 0; k < LOADS; k++) {
                const int64_t i = first + k * blockDim.x;
                if (read == 0) {
                    own += i < limit ? two<acc_t<T>>{ys[k] * grads[k], ys[k]} : two<acc_t<T>>{};
                } else if (i < a.n) {
                    const acc_t<T> grad = i < limit ? ys[k] * (grads[k] - mean) : acc_t<T>(0);
                    if (a.grad_bias != nullptr) {
                        a.grad_bias[row * a.n + i] = grad;
                    }
                    if (a.grad_x != nullptr) {
                        a.grad_x[row * a.n + i] = from_acc<T>(a.scale * grad);
                    }
                }
            }
        }
        if (read == 0) {
            mean = row_mean(group_sum(own, whole_block(), buffers, 0, 0));
        }
    }
}

template <typename T, bool ALIGNED, int VECTORS, int ROWS>
__device__ void softmax_backward(const softmax_backward_args<T> &a) {
    if constexpr (!ALIGNED && ROWS == 2) {
        backward_of_runs<VECTORS>(a);
    } else if constexpr (VECTORS == 0) {
        backward_in_two_reads(a);
    } else if constexpr (ROWS == 0) {
        if constexpr (VECTORS < 4) {
            rows_by_blocks<backward_row<T, ALIGNED, VECTORS>, VECTORS, true>(a, a.y);
        } else {
            rows_in_shared<backward_row_in_shared<T, ALIGNED, VECTORS>, VECTORS>(a, {a.y, a.grad_y});
        }
    } else if constexpr (ALIGNED) {
        rows_by_lanes<backward_row<T, true, VECTORS>, ROWS>(a, static_cast<int>(a.lanes));
    } else {
        backward_of_staged_rows(a);
    }
}
