// Arithmetic on one complex number, as csrc/cpu/complex_elements.h has it: float2 and double2, whose functions are
// those of libcu++. Included before element_math.cuh by operators that have complex dtypes.
#pragma once

#include <cuda/std/complex>

#include "dtype.cuh"

namespace elementwise {

template <typename R> struct pair_of;
template <> struct pair_of<float> {
    using type = float2;
};
template <> struct pair_of<double> {
    using type = double2;
};

__device__ __forceinline__ float2 complex(float re) { return make_float2(re, 0.0f); }
__device__ __forceinline__ double2 complex(double re) { return make_double2(re, 0.0); }
__device__ __forceinline__ double2 to_c128(float2 z) { return make_double2(z.x, z.y); }
__device__ __forceinline__ float2 to_c64(double2 z) {
    return make_float2(static_cast<float>(z.x), static_cast<float>(z.y));
}

template <typename R> __device__ __forceinline__ cuda::std::complex<R> standard(R re, R im) { return {re, im}; }
template <typename R> __device__ __forceinline__ typename pair_of<R>::type pair(cuda::std::complex<R> z) {
    return {z.real(), z.imag()};
}

#define COMPLEX_FUNCTIONS(real_t, complex_t)                                                                           \
    __device__ __forceinline__ real_t real(complex_t z) { return z.x; }                                                \
    __device__ __forceinline__ real_t imag(complex_t z) { return z.y; }                                                \
    __device__ __forceinline__ complex_t conj(complex_t z) { return {z.x, -z.y}; }                                     \
    __device__ __forceinline__ complex_t times_i(complex_t z) { return {-z.y, z.x}; }                                  \
    __device__ __forceinline__ complex_t neg(complex_t z) { return {-z.x, -z.y}; }                                     \
    __device__ __forceinline__ complex_t add(complex_t a, complex_t b) { return {a.x + b.x, a.y + b.y}; }              \
    __device__ __forceinline__ complex_t sub(complex_t a, complex_t b) { return {a.x - b.x, a.y - b.y}; }              \
    __device__ __forceinline__ complex_t mul(complex_t a, complex_t b) {                                               \
        return {a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};                                                         \
    }                                                                                                                  \
    /* By the larger part of b, so that no square overflows (R. L. Smith, Algorithm 116). */                           \
    __device__ __forceinline__ complex_t div(complex_t a, complex_t b) {                                               \
        if (b.x == 0 && b.y == 0) {                                                                                    \
            return {a.x / ::fabs(b.x), a.y / ::fabs(b.x)};                                                             \
        }                                                                                                              \
        if (::fabs(b.x) >= ::fabs(b.y)) {                                                                              \
            const real_t ratio = b.y / b.x, below = b.x + b.y * ratio;                                                 \
            return {(a.x + a.y * ratio) / below, (a.y - a.x * ratio) / below};                                         \
        }                                                                                                              \
        const real_t ratio = b.x / b.y, below = b.x * ratio + b.y;                                                     \
        return {(a.x * ratio + a.y) / below, (a.y * ratio - a.x) / below};                                             \
    }                                                                                                                  \
    __device__ __forceinline__ bool equal(complex_t a, complex_t b) { return a.x == b.x && a.y == b.y; }               \
    __device__ __forceinline__ real_t abs(complex_t z) { return ::hypot(z.x, z.y); }                                   \
    __device__ __forceinline__ complex_t sign(complex_t z) {                                                           \
        const real_t length = ::hypot(z.x, z.y);                                                                       \
        return length == 0 ? complex_t{0, 0} : complex_t{z.x / length, z.y / length};                                  \
    }                                                                                                                  \
    __device__ __forceinline__ complex_t exp(complex_t z) { return pair(cuda::std::exp(standard(z.x, z.y))); }         \
    __device__ __forceinline__ complex_t log(complex_t z) { return pair(cuda::std::log(standard(z.x, z.y))); }         \
    __device__ __forceinline__ complex_t sqrt(complex_t z) { return pair(cuda::std::sqrt(standard(z.x, z.y))); }       \
    __device__ __forceinline__ complex_t tanh(complex_t z) { return pair(cuda::std::tanh(standard(z.x, z.y))); }       \
    __device__ __forceinline__ complex_t sin(complex_t z) { return pair(cuda::std::sin(standard(z.x, z.y))); }         \
    __device__ __forceinline__ complex_t cos(complex_t z) { return pair(cuda::std::cos(standard(z.x, z.y))); }         \
    __device__ __forceinline__ complex_t exp2(complex_t z) {                                                           \
        constexpr real_t by = static_cast<real_t>(0.69314718055994530942);                                             \
        return exp(complex_t{z.x * by, z.y * by});                                                                     \
    }                                                                                                                  \
    __device__ __forceinline__ complex_t log2(complex_t z) {                                                           \
        constexpr real_t by = static_cast<real_t>(1.4426950408889634074);                                              \
        const complex_t natural = log(z);                                                                              \
        return {natural.x * by, natural.y * by};                                                                       \
    }                                                                                                                  \
    __device__ __forceinline__ complex_t rsqrt(complex_t z) { return div(complex_t{1, 0}, sqrt(z)); }                  \
    __device__ __forceinline__ complex_t sigmoid(complex_t z) {                                                        \
        const complex_t e = exp(complex_t{-z.x, -z.y});                                                                \
        return div(complex_t{1, 0}, complex_t{1 + e.x, e.y});                                                          \
    }                                                                                                                  \
    __device__ __forceinline__ bool isnan(complex_t z) { return z.x != z.x || z.y != z.y; }                            \
    __device__ __forceinline__ bool isinf(complex_t z) { return ::isinf(z.x) || ::isinf(z.y); }                        \
    __device__ __forceinline__ bool isfinite(complex_t z) { return ::isfinite(z.x) && ::isfinite(z.y); }
COMPLEX_FUNCTIONS(float, float2)
COMPLEX_FUNCTIONS(double, double2)
#undef COMPLEX_FUNCTIONS

// A power is the exponential of a product, whose error grows with it: floats are raised as doubles.
__device__ __forceinline__ double2 pow(double2 a, double2 b) {
    return pair(cuda::std::pow(standard(a.x, a.y), standard(b.x, b.y)));
}
__device__ __forceinline__ float2 pow(float2 a, float2 b) { return to_c64(pow(to_c128(a), to_c128(b))); }

} // namespace elementwise
