#include "by_rows.cuh"

template <typename T, int VEC> struct alignas(VEC * sizeof(T)) by_rows_vector {
    T element[VEC];
};

// VEC elements at a time, which faults where a row is not aligned as aligned(8) promised.
template <typename T, int VEC> __device__ void by_rows(const by_rows_args<T> &a) {
    using vector = by_rows_vector<T, VEC>;
    const int64_t row = blockIdx.x;
    const auto *x = reinterpret_cast<const vector *>(a.x + row * a.x_stride[0]);
    const auto *w = reinterpret_cast<const vector *>(a.w);
    auto *y = reinterpret_cast<vector *>(a.y + row * a.n);
    for (int64_t j = threadIdx.x; j < a.n / VEC; j += blockDim.x) {
        const vector left = x[j], right = w[j];
        vector product;
        for (int i = 0; i < VEC; i++) {
            product.element[i] =
                static_cast<T>(static_cast<acc_t<T>>(left.element[i]) * static_cast<acc_t<T>>(right.element[i]));
        }
        y[j] = product;
    }
}
