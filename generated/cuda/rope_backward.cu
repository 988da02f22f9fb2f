// my_ops::rope_backward(Tensor grad_q_out, Tensor grad_k_out, Tensor cos, Tensor sin, bool interleaved, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
//
// The kernels of rope_backward: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/rope_backward.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_rope_backward_cu_defines { using ::rope_backward; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float64_float64__0(const __grid_constant__ rope_backward_call call) {
    rope_backward<double, double, 2, false>(rope_backward_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float64_float64__1(const __grid_constant__ rope_backward_call call) {
    rope_backward<double, double, 2, true>(rope_backward_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float64_float64__2(const __grid_constant__ rope_backward_call call) {
    rope_backward<double, double, 1, false>(rope_backward_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float64_float64__3(const __grid_constant__ rope_backward_call call) {
    rope_backward<double, double, 1, true>(rope_backward_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float64_float64__4(const __grid_constant__ rope_backward_call call) {
    rope_backward<double, double, 1, false>(rope_backward_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float64_float64__5(const __grid_constant__ rope_backward_call call) {
    rope_backward<double, double, 1, true>(rope_backward_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float16_float32__0(const __grid_constant__ rope_backward_call call) {
    rope_backward<__half, float, 8, false>(rope_backward_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float16_float32__1(const __grid_constant__ rope_backward_call call) {
    rope_backward<__half, float, 8, true>(rope_backward_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float16_float32__2(const __grid_constant__ rope_backward_call call) {
    rope_backward<__half, float, 4, false>(rope_backward_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float16_float32__3(const __grid_constant__ rope_backward_call call) {
    rope_backward<__half, float, 4, true>(rope_backward_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float16_float32__4(const __grid_constant__ rope_backward_call call) {
    rope_backward<__half, float, 1, false>(rope_backward_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float16_float32__5(const __grid_constant__ rope_backward_call call) {
    rope_backward<__half, float, 1, true>(rope_backward_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__bfloat16_bfloat16__0(const __grid_constant__ rope_backward_call call) {
    rope_backward<__nv_bfloat16, __nv_bfloat16, 8, false>(rope_backward_args<__nv_bfloat16, __nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__bfloat16_bfloat16__1(const __grid_constant__ rope_backward_call call) {
    rope_backward<__nv_bfloat16, __nv_bfloat16, 8, true>(rope_backward_args<__nv_bfloat16, __nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__bfloat16_bfloat16__2(const __grid_constant__ rope_backward_call call) {
    rope_backward<__nv_bfloat16, __nv_bfloat16, 4, false>(rope_backward_args<__nv_bfloat16, __nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__bfloat16_bfloat16__3(const __grid_constant__ rope_backward_call call) {
    rope_backward<__nv_bfloat16, __nv_bfloat16, 4, true>(rope_backward_args<__nv_bfloat16, __nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__bfloat16_bfloat16__4(const __grid_constant__ rope_backward_call call) {
    rope_backward<__nv_bfloat16, __nv_bfloat16, 1, false>(rope_backward_args<__nv_bfloat16, __nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__bfloat16_bfloat16__5(const __grid_constant__ rope_backward_call call) {
    rope_backward<__nv_bfloat16, __nv_bfloat16, 1, true>(rope_backward_args<__nv_bfloat16, __nv_bfloat16>(call));
}

#endif

#if CUDA_UNIT == 1

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float64_float32__0(const __grid_constant__ rope_backward_call call) {
    rope_backward<double, float, 2, false>(rope_backward_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float64_float32__1(const __grid_constant__ rope_backward_call call) {
    rope_backward<double, float, 2, true>(rope_backward_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float64_float32__2(const __grid_constant__ rope_backward_call call) {
    rope_backward<double, float, 1, false>(rope_backward_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float64_float32__3(const __grid_constant__ rope_backward_call call) {
    rope_backward<double, float, 1, true>(rope_backward_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float64_float32__4(const __grid_constant__ rope_backward_call call) {
    rope_backward<double, float, 1, false>(rope_backward_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float64_float32__5(const __grid_constant__ rope_backward_call call) {
    rope_backward<double, float, 1, true>(rope_backward_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float16_float16__0(const __grid_constant__ rope_backward_call call) {
    rope_backward<__half, __half, 8, false>(rope_backward_args<__half, __half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float16_float16__1(const __grid_constant__ rope_backward_call call) {
    rope_backward<__half, __half, 8, true>(rope_backward_args<__half, __half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float16_float16__2(const __grid_constant__ rope_backward_call call) {
    rope_backward<__half, __half, 4, false>(rope_backward_args<__half, __half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float16_float16__3(const __grid_constant__ rope_backward_call call) {
    rope_backward<__half, __half, 4, true>(rope_backward_args<__half, __half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float16_float16__4(const __grid_constant__ rope_backward_call call) {
    rope_backward<__half, __half, 1, false>(rope_backward_args<__half, __half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float16_float16__5(const __grid_constant__ rope_backward_call call) {
    rope_backward<__half, __half, 1, true>(rope_backward_args<__half, __half>(call));
}

#endif

#if CUDA_UNIT == 2

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float32_float32__0(const __grid_constant__ rope_backward_call call) {
    rope_backward<float, float, 4, false>(rope_backward_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float32_float32__1(const __grid_constant__ rope_backward_call call) {
    rope_backward<float, float, 4, true>(rope_backward_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float32_float32__2(const __grid_constant__ rope_backward_call call) {
    rope_backward<float, float, 2, false>(rope_backward_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float32_float32__3(const __grid_constant__ rope_backward_call call) {
    rope_backward<float, float, 2, true>(rope_backward_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float32_float32__4(const __grid_constant__ rope_backward_call call) {
    rope_backward<float, float, 1, false>(rope_backward_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__float32_float32__5(const __grid_constant__ rope_backward_call call) {
    rope_backward<float, float, 1, true>(rope_backward_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__bfloat16_float32__0(const __grid_constant__ rope_backward_call call) {
    rope_backward<__nv_bfloat16, float, 8, false>(rope_backward_args<__nv_bfloat16, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__bfloat16_float32__1(const __grid_constant__ rope_backward_call call) {
    rope_backward<__nv_bfloat16, float, 8, true>(rope_backward_args<__nv_bfloat16, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__bfloat16_float32__2(const __grid_constant__ rope_backward_call call) {
    rope_backward<__nv_bfloat16, float, 4, false>(rope_backward_args<__nv_bfloat16, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__bfloat16_float32__3(const __grid_constant__ rope_backward_call call) {
    rope_backward<__nv_bfloat16, float, 4, true>(rope_backward_args<__nv_bfloat16, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__bfloat16_float32__4(const __grid_constant__ rope_backward_call call) {
    rope_backward<__nv_bfloat16, float, 1, false>(rope_backward_args<__nv_bfloat16, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rope_backward__bfloat16_float32__5(const __grid_constant__ rope_backward_call call) {
    rope_backward<__nv_bfloat16, float, 1, true>(rope_backward_args<__nv_bfloat16, float>(call));
}

#endif
