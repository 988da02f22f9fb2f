#include "weigh_rows_backward.cuh"

#include "block_sum.cuh"

// A block for each column.
template <typename T, typename W> __global__ void weigh_backward(const __grid_constant__ weigh_rows_backward_call c) {
    const weigh_rows_backward_args<T, W> a(c);
    const int64_t column = blockIdx.x;
    acc_t<T> powers = 0;
    for (int64_t k = 0; k < a.powers_count; k++) {
        powers += static_cast<acc_t<T>>(a.powers[k]);
    }
    const acc_t<T> weight = a.w == nullptr ? acc_t<T>(1) : static_cast<acc_t<T>>(to_acc(a.w[column]));
    const acc_t<T> sum = block_sum<acc_t<T>>(a.rows, [&](int64_t row) {
        const int64_t i = row * a.n + column;
        const acc_t<T> grad = to_acc(a.grad_y[i]) * powers;
        if (a.grad_x != nullptr) {
            a.grad_x[i] = from_acc<T>(grad * weight);
        }
        return grad * to_acc(a.x[i]);
    });
    if (a.grad_w != nullptr && threadIdx.x == 0) {
        a.grad_w[column] = from_acc<W>(static_cast<acc_t<W>>(sum));
    }
}

template <typename T, typename W>
static cudaError_t run(const cuda_context *ctx, const weigh_rows_backward_call &c,
                       const weigh_rows_backward_args<T, W> &a) {
    weigh_backward<T, W><<<static_cast<unsigned>(a.n), 256, 0, ctx->stream>>>(c);
    return cudaGetLastError();
}

extern "C" cudaError_t weigh_rows_backward_cuda(const cuda_context *ctx, const weigh_rows_backward_call *c) {
    return weigh_rows_backward_typed(*c, [&](const auto &a) { return run(ctx, *c, a); });
}
