// Element types of operator bodies and the type that sums over them use.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

// acc(T) of the spec: float for half, bfloat16 and float; int64_t for integers and bool; double and complex types stay.
template <typename T> struct accumulator {
    using type = T;
};
template <> struct accumulator<__half> {
    using type = float;
};
template <> struct accumulator<__nv_bfloat16> {
    using type = float;
};
template <> struct accumulator<uint8_t> {
    using type = int64_t;
};
template <> struct accumulator<int8_t> {
    using type = int64_t;
};
template <> struct accumulator<int16_t> {
    using type = int64_t;
};
template <> struct accumulator<int32_t> {
    using type = int64_t;
};
template <> struct accumulator<bool> {
    using type = int64_t;
};
template <typename T> using acc_t = typename accumulator<T>::type;

template <typename T> __device__ __forceinline__ acc_t<T> to_acc(T value) { return static_cast<acc_t<T>>(value); }

// from_acc rounds to nearest even.
template <typename T> __device__ __forceinline__ T from_acc(acc_t<T> value) { return static_cast<T>(value); }
template <> __device__ __forceinline__ __half from_acc<__half>(float value) { return __float2half_rn(value); }
template <> __device__ __forceinline__ __nv_bfloat16 from_acc<__nv_bfloat16>(float value) {
    return __float2bfloat16_rn(value);
}
