// my_ops::quantize_per_token(Tensor x, *, ScalarType dtype=int8) -> (Tensor, Tensor)
//
// The kernels of quantize_per_token: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/quantize_per_token.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_quantize_per_token_cu_defines { using ::quantize_per_token; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float32_int8__0(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, int8_t, true, 1, 0>(quantize_per_token_args<float, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float32_int8__1(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, int8_t, true, 1, 1>(quantize_per_token_args<float, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float32_int8__2(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, int8_t, true, 1, 4>(quantize_per_token_args<float, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float32_int8__3(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, int8_t, true, 2, 1>(quantize_per_token_args<float, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float32_int8__4(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, int8_t, true, 2, 2>(quantize_per_token_args<float, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float32_int8__5(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, int8_t, true, 4, 0>(quantize_per_token_args<float, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(512)
quantize_per_token__float32_int8__6(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, int8_t, false, 4, 2>(quantize_per_token_args<float, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float32_int8__7(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, int8_t, false, 16, 1>(quantize_per_token_args<float, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float32_int8__8(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, int8_t, false, 16, 0>(quantize_per_token_args<float, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float32_int8__9(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, int8_t, false, 0, 0>(quantize_per_token_args<float, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__bfloat16_int8__0(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, int8_t, true, 1, 0>(quantize_per_token_args<__nv_bfloat16, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__bfloat16_int8__1(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, int8_t, true, 1, 1>(quantize_per_token_args<__nv_bfloat16, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__bfloat16_int8__2(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, int8_t, true, 1, 4>(quantize_per_token_args<__nv_bfloat16, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__bfloat16_int8__3(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, int8_t, true, 2, 1>(quantize_per_token_args<__nv_bfloat16, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__bfloat16_int8__4(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, int8_t, true, 2, 2>(quantize_per_token_args<__nv_bfloat16, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__bfloat16_int8__5(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, int8_t, true, 4, 0>(quantize_per_token_args<__nv_bfloat16, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(512)
quantize_per_token__bfloat16_int8__6(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, int8_t, false, 4, 2>(quantize_per_token_args<__nv_bfloat16, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__bfloat16_int8__7(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, int8_t, false, 16, 1>(quantize_per_token_args<__nv_bfloat16, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__bfloat16_int8__8(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, int8_t, false, 16, 0>(quantize_per_token_args<__nv_bfloat16, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__bfloat16_int8__9(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, int8_t, false, 0, 0>(quantize_per_token_args<__nv_bfloat16, int8_t>(call));
}

#endif

#if CUDA_UNIT == 1

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float32_float8_e4m3fn__0(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, __nv_fp8_e4m3, true, 1, 0>(quantize_per_token_args<float, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float32_float8_e4m3fn__1(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, __nv_fp8_e4m3, true, 1, 1>(quantize_per_token_args<float, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float32_float8_e4m3fn__2(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, __nv_fp8_e4m3, true, 1, 4>(quantize_per_token_args<float, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float32_float8_e4m3fn__3(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, __nv_fp8_e4m3, true, 2, 1>(quantize_per_token_args<float, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float32_float8_e4m3fn__4(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, __nv_fp8_e4m3, true, 2, 2>(quantize_per_token_args<float, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float32_float8_e4m3fn__5(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, __nv_fp8_e4m3, true, 4, 0>(quantize_per_token_args<float, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(512)
quantize_per_token__float32_float8_e4m3fn__6(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, __nv_fp8_e4m3, false, 4, 2>(quantize_per_token_args<float, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float32_float8_e4m3fn__7(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, __nv_fp8_e4m3, false, 16, 1>(quantize_per_token_args<float, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float32_float8_e4m3fn__8(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, __nv_fp8_e4m3, false, 16, 0>(quantize_per_token_args<float, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float32_float8_e4m3fn__9(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<float, __nv_fp8_e4m3, false, 0, 0>(quantize_per_token_args<float, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__bfloat16_float8_e4m3fn__0(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, __nv_fp8_e4m3, true, 1, 0>(quantize_per_token_args<__nv_bfloat16, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__bfloat16_float8_e4m3fn__1(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, __nv_fp8_e4m3, true, 1, 1>(quantize_per_token_args<__nv_bfloat16, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__bfloat16_float8_e4m3fn__2(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, __nv_fp8_e4m3, true, 1, 4>(quantize_per_token_args<__nv_bfloat16, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__bfloat16_float8_e4m3fn__3(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, __nv_fp8_e4m3, true, 2, 1>(quantize_per_token_args<__nv_bfloat16, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__bfloat16_float8_e4m3fn__4(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, __nv_fp8_e4m3, true, 2, 2>(quantize_per_token_args<__nv_bfloat16, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__bfloat16_float8_e4m3fn__5(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, __nv_fp8_e4m3, true, 4, 0>(quantize_per_token_args<__nv_bfloat16, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(512)
quantize_per_token__bfloat16_float8_e4m3fn__6(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, __nv_fp8_e4m3, false, 4, 2>(quantize_per_token_args<__nv_bfloat16, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__bfloat16_float8_e4m3fn__7(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, __nv_fp8_e4m3, false, 16, 1>(quantize_per_token_args<__nv_bfloat16, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__bfloat16_float8_e4m3fn__8(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, __nv_fp8_e4m3, false, 16, 0>(quantize_per_token_args<__nv_bfloat16, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__bfloat16_float8_e4m3fn__9(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__nv_bfloat16, __nv_fp8_e4m3, false, 0, 0>(quantize_per_token_args<__nv_bfloat16, __nv_fp8_e4m3>(call));
}

#endif

#if CUDA_UNIT == 2

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float16_int8__0(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, int8_t, true, 1, 0>(quantize_per_token_args<__half, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float16_int8__1(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, int8_t, true, 1, 1>(quantize_per_token_args<__half, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float16_int8__2(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, int8_t, true, 1, 4>(quantize_per_token_args<__half, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float16_int8__3(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, int8_t, true, 2, 1>(quantize_per_token_args<__half, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float16_int8__4(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, int8_t, true, 2, 2>(quantize_per_token_args<__half, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float16_int8__5(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, int8_t, true, 4, 0>(quantize_per_token_args<__half, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(512)
quantize_per_token__float16_int8__6(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, int8_t, false, 4, 2>(quantize_per_token_args<__half, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float16_int8__7(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, int8_t, false, 16, 1>(quantize_per_token_args<__half, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float16_int8__8(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, int8_t, false, 16, 0>(quantize_per_token_args<__half, int8_t>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float16_int8__9(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, int8_t, false, 0, 0>(quantize_per_token_args<__half, int8_t>(call));
}

#endif

#if CUDA_UNIT == 3

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float16_float8_e4m3fn__0(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, __nv_fp8_e4m3, true, 1, 0>(quantize_per_token_args<__half, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float16_float8_e4m3fn__1(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, __nv_fp8_e4m3, true, 1, 1>(quantize_per_token_args<__half, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float16_float8_e4m3fn__2(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, __nv_fp8_e4m3, true, 1, 4>(quantize_per_token_args<__half, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float16_float8_e4m3fn__3(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, __nv_fp8_e4m3, true, 2, 1>(quantize_per_token_args<__half, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float16_float8_e4m3fn__4(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, __nv_fp8_e4m3, true, 2, 2>(quantize_per_token_args<__half, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float16_float8_e4m3fn__5(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, __nv_fp8_e4m3, true, 4, 0>(quantize_per_token_args<__half, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(512)
quantize_per_token__float16_float8_e4m3fn__6(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, __nv_fp8_e4m3, false, 4, 2>(quantize_per_token_args<__half, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(256)
quantize_per_token__float16_float8_e4m3fn__7(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, __nv_fp8_e4m3, false, 16, 1>(quantize_per_token_args<__half, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float16_float8_e4m3fn__8(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, __nv_fp8_e4m3, false, 16, 0>(quantize_per_token_args<__half, __nv_fp8_e4m3>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
quantize_per_token__float16_float8_e4m3fn__9(const __grid_constant__ quantize_per_token_call call) {
    quantize_per_token<__half, __nv_fp8_e4m3, false, 0, 0>(quantize_per_token_args<__half, __nv_fp8_e4m3>(call));
}

#endif
