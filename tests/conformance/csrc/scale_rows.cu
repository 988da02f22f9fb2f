#include "dtype.cuh"
#include "scale_rows.cuh"

template <typename T> __device__ void scale_rows(const scale_rows_args<T> &a) {
    for (int64_t i = threadIdx.x; i < a.n; i += blockDim.x) {
        T *const x = a.x + blockIdx.x * a.x_stride[0] + i;
        *x = from_acc<T>(to_acc(*x) * (a.s != nullptr ? to_acc(a.s[i]) : acc_t<T>(2)));
    }
}
