#include "reduce.cuh"
#include "rms_backward.cuh"

template <typename T> __device__ void rms_backward(const rms_backward_args<T> &a) {
    __shared__ acc_t<T> sums[8];
    const T *const x = a.x + int64_t{blockIdx.x} * a.n;
    const T *const grad = a.grad_y + int64_t{blockIdx.x} * a.n;
    const acc_t<T> rstd = a.rstd[blockIdx.x];
    acc_t<T> dot = 0;
    for (int64_t i = threadIdx.x; i < a.n; i += 256) {
        dot += to_acc(x[i]) * to_acc(grad[i]);
    }
    dot = warp_sum(dot);
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = dot;
    }
    __syncthreads();
    dot = lane_sum(sums[threadIdx.x % 8], 8) * rstd * rstd / acc_t<T>(a.n);
    for (int64_t i = threadIdx.x; i < a.n; i += 256) {
        a.grad_x[int64_t{blockIdx.x} * a.n + i] = from_acc<T>(rstd * (to_acc(grad[i]) - to_acc(x[i]) * dot));
    }
}
