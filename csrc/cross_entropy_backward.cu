// Gradient of cross_entropy, which csrc/device/cross_entropy_rows.cuh defines, out of the logits and lse: each element
// on its own, so all of them are one run of vectors, cut without regard to rows.
//
// ALIGNED: rows are made of whole, aligned vectors, so that no vector lies in two of them.
#include "cross_entropy_backward.cuh"

#include "cross_entropy_rows.cuh"

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

template <typename T, bool ALIGNED> __device__ void cross_entropy_backward(const cross_entropy_backward_args<T> &a) {
    using A = acc_t<T>;
    constexpr int SIZE = vector_size<T>;
    cross_entropy_rows<T> rows = {a.logits, a.target, nullptr, const_cast<A *>(a.lse)};
    rows.factor = a.grad_loss;
    rows.factor_dim = a.grad_loss_dim;
    rows.factor_size = a.grad_loss_size;
    rows.factor_stride = a.grad_loss_stride;
    rows.rows = a.rows;
    rows.n = a.n;
    rows.ignore_index = a.ignore_index;
    rows.smoothing = a.label_smoothing;
    rows.z_loss = a.z_loss;

    const int64_t numel = a.rows * a.n;
    const int64_t shift = ALIGNED ? 0 : alignment_shift(a.logits);
    const int64_t first = (int64_t{blockIdx.x} * VECTORS * blockDim.x + threadIdx.x) * SIZE - shift;
    const int64_t stride = int64_t{blockDim.x} * SIZE;
    uint4 vectors[VECTORS];
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        vectors[k] = load_vector<T, ALIGNED>(a.logits, numel, first + k * stride);
    }
#pragma unroll
    for (int k = 0; k < VECTORS; k++) {
        const int64_t start = first + k * stride;
        if (start >= numel || start + SIZE <= 0) {
            continue;
        }
        quotient at = divided(max(start, int64_t{0}), a.n);
        loss_row<A> row = loss_row_of(rows, at.whole);
        A values[SIZE];
        unpack<T>(vectors[k], values);
#pragma unroll
        for (int i = 0; i < SIZE; i++) {
            if (ALIGNED || (start + i >= 0 && start + i < numel)) {
                values[i] = gradient_at(row, at.rest, values[i]);
                at.rest++;
                if (!ALIGNED && at.rest == a.n && start + i + 1 < numel) {
                    at = {at.whole + 1, 0};
                    row = loss_row_of(rows, at.whole);
                }
            }
        }
        store_vector<T, ALIGNED>(a.grad_logits, numel, start, pack<T>(values));
    }
}
