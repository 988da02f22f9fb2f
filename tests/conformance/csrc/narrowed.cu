#include "narrowed.cuh"

template <typename F> __device__ void narrowed(const narrowed_args<F> &a) {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < a.s) {
        const float scale = to_acc(a.scale[i]);
        const float sum = to_acc(a.x[i]) * scale + a.add[i];
        a.y[i] = from_acc<F>(sum);
        a.wide[i] = sum;
        a.powers[i] = from_acc<float8_e8m0fnu>(2 * scale);
    }
}
