// Gradients of y = xhat * (offset + weight) + bias, xhat = (x - mean) * rstd, with mean 0 unless CENTERED. With
// g = (offset + weight) * grad_y, by the product rule:
//     grad_x      = rstd * (g - mean(g) - xhat * mean(g * xhat)), means over the row, the first one only if CENTERED
//     grad_weight = sum over rows of grad_y * xhat
//     grad_bias   = sum over rows of grad_y
// and where ADDED, grad_total is added to grad_x.
#pragma once

#include "column_sums.cuh"

template <typename T> struct norm_gradients {
    const T *grad_y;
    const T *grad_total; // or null
    const T *x;
    const T *weight; // or null for 1 and an offset of 0
    const acc_t<T> *mean;
    const acc_t<T> *rstd;
    T *grad_x;      // or null, as the next two, where it is not wanted
    T *grad_weight; // sum over rows
    T *grad_bias;
    acc_t<T> *partial; // rows of scratch memory: sums for grad_weight, and `columns` further those for grad_bias
    acc_t<T> offset;
    int64_t rows, n;
    int64_t threads, step, rounds, columns, slab; // see row_norm_backward.cuh
    bool few;                                     // rows

    __device__ __forceinline__ int width() const { return static_cast<int>(n); }
    __device__ __forceinline__ acc_t<T> inverse_n() const { return acc_t<T>(1) / static_cast<acc_t<T>>(n); }
    __device__ __forceinline__ bool sums_wanted() const { return grad_weight != nullptr || grad_bias != nullptr; }
    __device__ __forceinline__ acc_t<T> weight_offset() const { return weight != nullptr ? offset : acc_t<T>(1); }
};

// What a row is summed for: g * (x - mean), and where CENTERED g too.
template <typename A, bool CENTERED> struct row_products {
    using type = A;
    static __device__ __forceinline__ void add(A &sum, A g, A centered) { sum += g * centered; }
};
template <typename A> struct row_products<A, true> {
    using type = two<A>;
    static __device__ __forceinline__ void add(two<A> &sum, A g, A centered) { sum += {g * centered, g}; }
};

// grad_x = rstd * g - share - slope * (x - mean)
template <typename A> struct row_slope {
    A rstd;
    A slope;
    A share;

    __device__ __forceinline__ row_slope(A product, A rstd, A inverse_n)
        : rstd(rstd), slope(rstd * (rstd * (rstd * product * inverse_n))), share(0) {}
    __device__ __forceinline__ row_slope(const two<A> &product, A rstd, A inverse_n)
        : row_slope(product.first, rstd, inverse_n) {
        share = rstd * product.second * inverse_n;
    }

    __device__ __forceinline__ A at(A g, A centered) const { return rstd * g - slope * centered - share; }
};
