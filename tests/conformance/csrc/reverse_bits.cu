#include "reverse_bits.cuh"

template <typename T> __global__ void reverse(const reverse_bits_args<T> a) {
    const int64_t i = int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
    if (i < a.n) {
        a.y[i] = a.x[a.n - 1 - i];
    }
}

template <typename T> static cudaError_t run(const cuda_context *ctx, const reverse_bits_args<T> &a) {
    reverse<T><<<static_cast<unsigned>((a.n + 127) / 128), 128, 0, ctx->stream>>>(a);
    return cudaGetLastError();
}

extern "C" cudaError_t reverse_bits_cuda(const cuda_context *ctx, const reverse_bits_call *c) {
    return reverse_bits_typed(*c, [&](const auto &a) { return run(ctx, a); });
}
