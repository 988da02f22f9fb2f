#include "reduce.cuh"
#include "rms.cuh"

template <typename T> __device__ void rms(const rms_args<T> &a) {
    __shared__ acc_t<T> sums[8];
    const T *const x = a.x + int64_t{blockIdx.x} * a.n;
    T *const y = a.y + int64_t{blockIdx.x} * a.n;
    acc_t<T> sum = 0;
    for (int64_t i = threadIdx.x; i < a.n; i += 256) {
        sum += to_acc(x[i]) * to_acc(x[i]);
    }
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0) {
        sums[threadIdx.x / 32] = sum;
    }
    __syncthreads();
    const acc_t<T> rstd = rsqrt(lane_sum(sums[threadIdx.x % 8], 8) / acc_t<T>(a.n) + a.eps);
    for (int64_t i = threadIdx.x; i < a.n; i += 256) {
        y[i] = from_acc<T>(to_acc(x[i]) * rstd);
    }
    if (a.rstd != nullptr && threadIdx.x == 0) {
        a.rstd[blockIdx.x] = rstd;
    }
}
