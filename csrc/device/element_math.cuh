// Arithmetic on one element of any type, in the words of the expression language; as csrc/cpu/elements.h has it.
#pragma once

#include "dtype.cuh"

namespace elementwise {

// Integers wrap, and a division by zero is 0.
__device__ __forceinline__ int64_t add(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
__device__ __forceinline__ int64_t sub(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
__device__ __forceinline__ int64_t mul(int64_t a, int64_t b) {
    return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
__device__ __forceinline__ int64_t neg(int64_t a) { return sub(0, a); }
__device__ __forceinline__ int64_t abs(int64_t a) { return a < 0 ? neg(a) : a; }
__device__ __forceinline__ int64_t sign(int64_t a) { return (a > 0) - (a < 0); }
__device__ __forceinline__ int64_t min(int64_t a, int64_t b) { return a < b ? a : b; }
__device__ __forceinline__ int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }
__device__ __forceinline__ int64_t floordiv(int64_t a, int64_t b) {
    if (b == 0 || b == -1) {
        return b == 0 ? 0 : neg(a);
    }
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}
__device__ __forceinline__ int64_t mod(int64_t a, int64_t b) { return sub(a, mul(floordiv(a, b), b)); }

// A whole number as an integer: outside the range the nearest limit, 0 for a NaN.
template <typename T> __device__ __forceinline__ int64_t whole32(T value) {
    return value != value ? 0 : static_cast<int32_t>(value); // the conversion clamps
}
template <typename T> __device__ __forceinline__ int64_t whole64(T value) {
    return value != value ? 0 : static_cast<long long>(value);
}

#define ELEMENT_FUNCTION(name, single, double_)                                                                        \
    __device__ __forceinline__ float name(float x) { return single; }                                                  \
    __device__ __forceinline__ double name(double x) { return double_; }
ELEMENT_FUNCTION(exp, expf(x), ::exp(x))
ELEMENT_FUNCTION(exp2, exp2f(x), ::exp2(x))
ELEMENT_FUNCTION(expm1, expm1f(x), ::expm1(x))
ELEMENT_FUNCTION(log, logf(x), ::log(x))
ELEMENT_FUNCTION(log2, log2f(x), ::log2(x))
ELEMENT_FUNCTION(log1p, log1pf(x), ::log1p(x))
ELEMENT_FUNCTION(sqrt, sqrtf(x), ::sqrt(x))
ELEMENT_FUNCTION(rsqrt, rsqrtf(x), ::rsqrt(x))
ELEMENT_FUNCTION(sigmoid, 1.0f / (1.0f + expf(-x)), 1.0 / (1.0 + ::exp(-x)))
ELEMENT_FUNCTION(tanh, tanhf(x), ::tanh(x))
ELEMENT_FUNCTION(erf, erff(x), ::erf(x))
ELEMENT_FUNCTION(sin, sinf(x), ::sin(x))
ELEMENT_FUNCTION(cos, cosf(x), ::cos(x))
ELEMENT_FUNCTION(floor, floorf(x), ::floor(x))
ELEMENT_FUNCTION(ceil, ceilf(x), ::ceil(x))
ELEMENT_FUNCTION(trunc, truncf(x), ::trunc(x))
ELEMENT_FUNCTION(round, rintf(x), ::rint(x))
ELEMENT_FUNCTION(abs, fabsf(x), ::fabs(x))
ELEMENT_FUNCTION(sign, static_cast<float>((x > 0) - (x < 0)), static_cast<double>((x > 0) - (x < 0)))
#undef ELEMENT_FUNCTION

template <typename T> __device__ __forceinline__ T pow(T x, T y) { return ::pow(x, y); }
// A NaN among the two is the result.
template <typename T> __device__ __forceinline__ T min(T a, T b) { return a < b || a != a ? a : b; }
template <typename T> __device__ __forceinline__ T max(T a, T b) { return a > b || a != a ? a : b; }
template <typename T> __device__ __forceinline__ bool isnan(T x) { return x != x; }
template <typename T> __device__ __forceinline__ bool isinf(T x) { return ::isinf(x); }
template <typename T> __device__ __forceinline__ bool isfinite(T x) { return ::isfinite(x); }

} // namespace elementwise
