// The float8 dtypes in device code: NVIDIA's types where there are any, else a byte with conversions of its own. They
// are computed in float; from_acc rounds to nearest even and turns what is too large into infinity or NaN, as PyTorch
// does.
#pragma once

#include <cuda_fp8.h>

#include "dtype.cuh"

template <> struct accumulator<__nv_fp8_e4m3> {
    using type = float;
};
template <> struct accumulator<__nv_fp8_e5m2> {
    using type = float;
};
template <> __device__ __forceinline__ __nv_fp8_e4m3 from_acc<__nv_fp8_e4m3>(float value) {
    __nv_fp8_e4m3 result;
    result.__x = __nv_cvt_float_to_fp8(value, __NV_NOSAT, __NV_E4M3);
    return result;
}
template <> __device__ __forceinline__ __nv_fp8_e5m2 from_acc<__nv_fp8_e5m2>(float value) {
    __nv_fp8_e5m2 result;
    result.__x = __nv_cvt_float_to_fp8(value, __NV_NOSAT, __NV_E5M2);
    return result;
}

// Without infinity and minus zero; 0x80 is the only NaN.
template <int FRACTION, int BIAS> struct float8_fnuz {
    uint8_t bits;

    __device__ __forceinline__ explicit operator float() const {
        const float scale = __uint_as_float(static_cast<uint32_t>(127 + 127 - BIAS) << 23);
        const float value = __uint_as_float((bits & 0x7fu) << (23 - FRACTION)) * scale;
        return bits == 0x80 ? __uint_as_float(0x7fc00000u) : (bits & 0x80u) != 0 ? -value : value;
    }
    __device__ __forceinline__ static float8_fnuz of(float value) {
        constexpr int dropped = 23 - FRACTION;
        constexpr uint32_t smallest = static_cast<uint32_t>(127 + 1 - BIAS) << 23;
        constexpr uint32_t magic = smallest + (static_cast<uint32_t>(dropped) << 23);
        const uint32_t word = __float_as_uint(value), magnitude = word & 0x7fffffffu;
        const uint32_t rounded = magnitude + ((1u << (dropped - 1)) - 1u) + ((magnitude >> dropped) & 1u);
        const uint32_t code = magnitude < smallest
                                  ? __float_as_uint(__uint_as_float(magnitude) + __uint_as_float(magic)) - magic
                                  : (rounded >> dropped) - (static_cast<uint32_t>(127 - BIAS) << FRACTION);
        const uint32_t sign = word >> 24 & 0x80u;
        return {static_cast<uint8_t>(code == 0 ? 0 : code > 0x7fu ? 0x80u : code | sign)};
    }
};
using float8_e4m3fnuz = float8_fnuz<3, 8>;
using float8_e5m2fnuz = float8_fnuz<2, 16>;

// Powers of two, for scales.
struct float8_e8m0fnu {
    uint8_t bits;

    __device__ __forceinline__ explicit operator float() const {
        return __uint_as_float(bits == 0xff ? 0x7fc00000u : bits == 0 ? 0x400000u : static_cast<uint32_t>(bits) << 23);
    }
    __device__ __forceinline__ static float8_e8m0fnu of(float value) {
        const uint32_t magnitude = __float_as_uint(value) & 0x7fffffffu, exponent = magnitude >> 23;
        const uint32_t up = (magnitude & 0x7fffffu) > (exponent > 0 ? 0x3fffffu : 0x400000u);
        return {static_cast<uint8_t>(exponent == 0xff ? 0xff : exponent + up)};
    }
};

template <> struct accumulator<float8_e4m3fnuz> {
    using type = float;
};
template <> struct accumulator<float8_e5m2fnuz> {
    using type = float;
};
template <> struct accumulator<float8_e8m0fnu> {
    using type = float;
};
template <> __device__ __forceinline__ float8_e4m3fnuz from_acc<float8_e4m3fnuz>(float value) {
    return float8_e4m3fnuz::of(value);
}
template <> __device__ __forceinline__ float8_e5m2fnuz from_acc<float8_e5m2fnuz>(float value) {
    return float8_e5m2fnuz::of(value);
}
template <> __device__ __forceinline__ float8_e8m0fnu from_acc<float8_e8m0fnu>(float value) {
    return float8_e8m0fnu::of(value);
}
