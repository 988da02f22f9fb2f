// Gradient of cross_entropy, which csrc/device/cross_entropy_rows.cuh defines, out of the logits and lse: each element
// on its own. Blocks take chunks of long rows; all elements of short ones are one run of vectors, cut without regard to
// rows.
//
// ALIGNED: rows are made of whole, aligned vectors, so that no vector lies in two of them.
// CHUNKS:  of rows, a.chunks each.
#include "cross_entropy_backward.cuh"

#include "cross_entropy_row.cuh"

constexpr int VECTORS = 4; // of a thread

// What the elements of a row need.
template <typename A> struct loss_row {
    row_target target;
    row_gradient<A> gradient;
    A lse;
};

template <typename T>
__device__ __forceinline__ loss_row<acc_t<T>> loss_row_of(const cross_entropy_rows<T> &a, int64_t row) {
    const row_target target = target_of_row(a, row);
    const acc_t<T> lse = a.lse[row];
    return {target, gradient_of_row(a, row, target, lse), lse};
}

template <typename A> __device__ __forceinline__ A gradient_at(const loss_row<A> &row, int64_t column, A logit) {
    return row.gradient.at(column, power_of_two((logit - row.lse) * LOG2_E<A>), row.target);
}

template <typename T, bool ALIGNED>
__device__ __forceinline__ void gradient_of_chunk(const cross_entropy_rows<T> &rows, int64_t chunks, T *grad_logits) {
    using A = acc_t<T>;
    constexpr int SIZE = vector_size<T>;
    const divmod_result block = divmod(blockIdx.x, chunks);
    const T *logits = rows.logits + block.quotient * rows.n;
    const int64_t chunk = block.remainder;
    const int64_t first = (chunk * VECTORS * blockDim.x + threadIdx.x) * SIZE - row_shift<T, ALIGNED>(logits, rows.n);
    const int64_t stride = int64_t{blockDim.x} * SIZE;
    uint4 vectors[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        vectors[k] = load_vector<T, ALIGNED>(logits, rows.n, first + k * stride);
    }
    const loss_row<A> row = loss_row_of(rows, block.quotient);
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        const int64_t column = first + k * stride;
        A values[SIZE];
        unpack<T>(vectors[k], values);
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            values[i] = row.gradient.scale * power_of_two((values[i] - row.lse) * LOG2_E<A>) - row.gradient.share;
        }
        if (row.target.column == NO_COLUMN) { // exponentials may be NaN
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                values[i] = -row.gradient.share;
            }
        }
        if (row.target.column >= column && row.target.column < column + SIZE) {
#pragma unroll
            for (int i = 0; i < SIZE; i++) {
                values[i] -= row.target.column == column + i ? row.gradient.hit : A(0);
            }
        }
        store_vector<T, ALIGNED>(grad_logits + block.quotient * rows.n, rows.n, column, pack<T>(values));
    }
}

template <typename T, bool ALIGNED>
__device__ __forceinline__ void gradient_of_run(const cross_entropy_rows<T> &rows, T *grad_logits) {
    using A = acc_t<T>;
    constexpr int SIZE = vector_size<T>;
    const int64_t numel = rows.rows * rows.n;
    const int64_t shift = ALIGNED ? 0 : alignment_shift(rows.logits);
    const int64_t first = (int64_t{blockIdx.x} * VECTORS * blockDim.x + threadIdx.x) * SIZE - shift;
    const int64_t stride = int64_t{blockDim.x} * SIZE;
    auto finish = [&](int64_t start, uint4 vector) {
        if (start >= numel || start + SIZE <= 0) {
            return;
        }
        const divmod_result at = divmod(max(start, int64_t{0}), rows.n);
        int64_t number = at.quotient;
        int64_t column = at.remainder;
        loss_row<A> row = loss_row_of(rows, number);
        A values[SIZE];
        unpack<T>(vector, values);
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            if (ALIGNED || (start + i >= 0 && start + i < numel)) {
                values[i] = gradient_at(row, column, values[i]);
                column++;
                if (!ALIGNED && column == rows.n && start + i + 1 < numel) {
                    number++;
                    column = 0;
                    row = loss_row_of(rows, number);
                }
            }
        }
        store_vector<T, ALIGNED>(grad_logits, numel, start, pack<T>(values));
    };
    if constexpr (ALIGNED) {
        uint4 vectors[VECTORS];
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            vectors[k] = load_vector<T, ALIGNED>(rows.logits, numel, first + k * stride);
        }
#pragma unroll
        for (int k = 0; k < VECTORS; k++) {
            finish(first + k * stride, vectors[k]);
        }
    } else {
#pragma unroll 1
        for (int k = 0; k < VECTORS; k++) { // arithmetic takes far longer than the loads here
            finish(first + k * stride, load_vector<T, ALIGNED>(rows.logits, numel, first + k * stride));
        }
    }
}

template <typename T, bool ALIGNED, bool CHUNKS>
__device__ void cross_entropy_backward(const cross_entropy_backward_args<T> &a) {
    cross_entropy_rows<T> rows = {a.logits, a.target, nullptr, const_cast<acc_t<T> *>(a.lse)};
    rows.factor = a.grad_loss;
    rows.factor_dim = a.grad_loss_dim;
    rows.factor_size = a.grad_loss_size;
    rows.factor_stride = a.grad_loss_stride;
    rows.rows = a.rows;
    rows.n = a.n;
    rows.ignore_index = a.ignore_index;
    rows.smoothing = a.label_smoothing;
    rows.z_loss = a.z_loss;
    if constexpr (CHUNKS) {
        gradient_of_chunk<T, ALIGNED>(rows, a.chunks, a.grad_logits);
    } else {
        gradient_of_run<T, ALIGNED>(rows, a.grad_logits);
    }
}
