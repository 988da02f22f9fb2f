#include "weigh_rows.cuh"

template <typename T, typename W> __global__ void weigh(const __grid_constant__ weigh_rows_call c) {
    const weigh_rows_args<T, W> a(c);
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    acc_t<T> sum = 0;
    for (int64_t k = 0; k < a.powers_count; k++) {
        sum += static_cast<acc_t<T>>(a.powers[k]);
    }
    if (i < a.rows * a.n) {
        const acc_t<T> weight = a.w == nullptr ? acc_t<T>(1) : static_cast<acc_t<T>>(to_acc(a.w[i % a.n]));
        a.y[i] = from_acc<T>(to_acc(a.x[i]) * weight * sum);
    }
}

template <typename T, typename W>
static cudaError_t run(const cuda_context *ctx, const weigh_rows_call &c, const weigh_rows_args<T, W> &a) {
    weigh<T, W><<<static_cast<unsigned>((a.rows * a.n + 127) / 128), 128, 0, ctx->stream>>>(c);
    return cudaGetLastError();
}

extern "C" cudaError_t weigh_rows_cuda(const cuda_context *ctx, const weigh_rows_call *c) {
    return weigh_rows_typed(*c, [&](const auto &a) { return run(ctx, *c, a); });
}
