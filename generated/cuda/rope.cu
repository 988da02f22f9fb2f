// my_ops::rope(Tensor q, Tensor k, Tensor cos, Tensor sin, bool interleaved=False) -> (Tensor, Tensor)
//
// The kernels of rope: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/rope.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_rope_cu_defines { using ::rope; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(256)
rope__float64_float64__0(const __grid_constant__ rope_call call) {
    rope<double, double, 2, false>(rope_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float64_float64__1(const __grid_constant__ rope_call call) {
    rope<double, double, 2, true>(rope_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float64_float64__2(const __grid_constant__ rope_call call) {
    rope<double, double, 1, false>(rope_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float64_float64__3(const __grid_constant__ rope_call call) {
    rope<double, double, 1, true>(rope_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float64_float64__4(const __grid_constant__ rope_call call) {
    rope<double, double, 1, false>(rope_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float64_float64__5(const __grid_constant__ rope_call call) {
    rope<double, double, 1, true>(rope_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float16_float32__0(const __grid_constant__ rope_call call) {
    rope<__half, float, 8, false>(rope_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float16_float32__1(const __grid_constant__ rope_call call) {
    rope<__half, float, 8, true>(rope_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float16_float32__2(const __grid_constant__ rope_call call) {
    rope<__half, float, 4, false>(rope_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float16_float32__3(const __grid_constant__ rope_call call) {
    rope<__half, float, 4, true>(rope_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float16_float32__4(const __grid_constant__ rope_call call) {
    rope<__half, float, 1, false>(rope_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float16_float32__5(const __grid_constant__ rope_call call) {
    rope<__half, float, 1, true>(rope_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__bfloat16_bfloat16__0(const __grid_constant__ rope_call call) {
    rope<__nv_bfloat16, __nv_bfloat16, 8, false>(rope_args<__nv_bfloat16, __nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__bfloat16_bfloat16__1(const __grid_constant__ rope_call call) {
    rope<__nv_bfloat16, __nv_bfloat16, 8, true>(rope_args<__nv_bfloat16, __nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__bfloat16_bfloat16__2(const __grid_constant__ rope_call call) {
    rope<__nv_bfloat16, __nv_bfloat16, 4, false>(rope_args<__nv_bfloat16, __nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__bfloat16_bfloat16__3(const __grid_constant__ rope_call call) {
    rope<__nv_bfloat16, __nv_bfloat16, 4, true>(rope_args<__nv_bfloat16, __nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__bfloat16_bfloat16__4(const __grid_constant__ rope_call call) {
    rope<__nv_bfloat16, __nv_bfloat16, 1, false>(rope_args<__nv_bfloat16, __nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__bfloat16_bfloat16__5(const __grid_constant__ rope_call call) {
    rope<__nv_bfloat16, __nv_bfloat16, 1, true>(rope_args<__nv_bfloat16, __nv_bfloat16>(call));
}

#endif

#if CUDA_UNIT == 1

extern "C" __global__ void __launch_bounds__(256)
rope__float64_float32__0(const __grid_constant__ rope_call call) {
    rope<double, float, 2, false>(rope_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float64_float32__1(const __grid_constant__ rope_call call) {
    rope<double, float, 2, true>(rope_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float64_float32__2(const __grid_constant__ rope_call call) {
    rope<double, float, 1, false>(rope_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float64_float32__3(const __grid_constant__ rope_call call) {
    rope<double, float, 1, true>(rope_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float64_float32__4(const __grid_constant__ rope_call call) {
    rope<double, float, 1, false>(rope_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float64_float32__5(const __grid_constant__ rope_call call) {
    rope<double, float, 1, true>(rope_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float16_float16__0(const __grid_constant__ rope_call call) {
    rope<__half, __half, 8, false>(rope_args<__half, __half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float16_float16__1(const __grid_constant__ rope_call call) {
    rope<__half, __half, 8, true>(rope_args<__half, __half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float16_float16__2(const __grid_constant__ rope_call call) {
    rope<__half, __half, 4, false>(rope_args<__half, __half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float16_float16__3(const __grid_constant__ rope_call call) {
    rope<__half, __half, 4, true>(rope_args<__half, __half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float16_float16__4(const __grid_constant__ rope_call call) {
    rope<__half, __half, 1, false>(rope_args<__half, __half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float16_float16__5(const __grid_constant__ rope_call call) {
    rope<__half, __half, 1, true>(rope_args<__half, __half>(call));
}

#endif

#if CUDA_UNIT == 2

extern "C" __global__ void __launch_bounds__(256)
rope__float32_float32__0(const __grid_constant__ rope_call call) {
    rope<float, float, 4, false>(rope_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float32_float32__1(const __grid_constant__ rope_call call) {
    rope<float, float, 4, true>(rope_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float32_float32__2(const __grid_constant__ rope_call call) {
    rope<float, float, 2, false>(rope_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float32_float32__3(const __grid_constant__ rope_call call) {
    rope<float, float, 2, true>(rope_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float32_float32__4(const __grid_constant__ rope_call call) {
    rope<float, float, 1, false>(rope_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__float32_float32__5(const __grid_constant__ rope_call call) {
    rope<float, float, 1, true>(rope_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__bfloat16_float32__0(const __grid_constant__ rope_call call) {
    rope<__nv_bfloat16, float, 8, false>(rope_args<__nv_bfloat16, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__bfloat16_float32__1(const __grid_constant__ rope_call call) {
    rope<__nv_bfloat16, float, 8, true>(rope_args<__nv_bfloat16, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__bfloat16_float32__2(const __grid_constant__ rope_call call) {
    rope<__nv_bfloat16, float, 4, false>(rope_args<__nv_bfloat16, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__bfloat16_float32__3(const __grid_constant__ rope_call call) {
    rope<__nv_bfloat16, float, 4, true>(rope_args<__nv_bfloat16, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__bfloat16_float32__4(const __grid_constant__ rope_call call) {
    rope<__nv_bfloat16, float, 1, false>(rope_args<__nv_bfloat16, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope__bfloat16_float32__5(const __grid_constant__ rope_call call) {
    rope<__nv_bfloat16, float, 1, true>(rope_args<__nv_bfloat16, float>(call));
}

#endif
