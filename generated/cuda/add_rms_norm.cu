// my_ops::add_rms_norm(Tensor x, Tensor residual, Tensor? weight=None, float eps=1e-06, float offset=0.0) -> (Tensor, Tensor)
//
// The kernels of add_rms_norm: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/add_rms_norm.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_add_rms_norm_cu_defines { using ::add_rms_norm; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(256)
add_rms_norm__float32__0(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<float, true, 2, 1>(add_rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
add_rms_norm__float32__1(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<float, true, 2, 2>(add_rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
add_rms_norm__float32__2(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<float, true, 2, 0>(add_rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(512)
add_rms_norm__float32__3(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<float, false, 2, 2>(add_rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
add_rms_norm__float32__4(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<float, false, 16, 1>(add_rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
add_rms_norm__float32__5(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<float, false, 2, 0>(add_rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
add_rms_norm__float32__6(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<float, false, 0, 0>(add_rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
add_rms_norm__bfloat16__0(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__nv_bfloat16, true, 2, 1>(add_rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
add_rms_norm__bfloat16__1(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__nv_bfloat16, true, 2, 2>(add_rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
add_rms_norm__bfloat16__2(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__nv_bfloat16, true, 2, 0>(add_rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(512)
add_rms_norm__bfloat16__3(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__nv_bfloat16, false, 2, 2>(add_rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
add_rms_norm__bfloat16__4(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__nv_bfloat16, false, 16, 1>(add_rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
add_rms_norm__bfloat16__5(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__nv_bfloat16, false, 2, 0>(add_rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
add_rms_norm__bfloat16__6(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__nv_bfloat16, false, 0, 0>(add_rms_norm_args<__nv_bfloat16>(call));
}

#endif

#if CUDA_UNIT == 1

extern "C" __global__ void __launch_bounds__(512)
add_rms_norm__float64__3(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<double, false, 2, 2>(add_rms_norm_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
add_rms_norm__float64__4(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<double, false, 16, 1>(add_rms_norm_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
add_rms_norm__float64__6(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<double, false, 0, 0>(add_rms_norm_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
add_rms_norm__float16__0(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__half, true, 2, 1>(add_rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
add_rms_norm__float16__1(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__half, true, 2, 2>(add_rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
add_rms_norm__float16__2(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__half, true, 2, 0>(add_rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(512)
add_rms_norm__float16__3(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__half, false, 2, 2>(add_rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
add_rms_norm__float16__4(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__half, false, 16, 1>(add_rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
add_rms_norm__float16__5(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__half, false, 2, 0>(add_rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
add_rms_norm__float16__6(const __grid_constant__ add_rms_norm_call call) {
    add_rms_norm<__half, false, 0, 0>(add_rms_norm_args<__half>(call));
}

#endif
