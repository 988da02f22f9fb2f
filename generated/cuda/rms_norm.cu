// my_ops::rms_norm(Tensor x, Tensor? weight=None, float eps=1e-06, float offset=0.0) -> Tensor
//
// The kernels of rms_norm: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/rms_norm.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_rms_norm_cu_defines { using ::rms_norm; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(512)
rms_norm__float64__6(const __grid_constant__ rms_norm_call call) {
    rms_norm<double, false, 4, 2>(rms_norm_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float64__7(const __grid_constant__ rms_norm_call call) {
    rms_norm<double, false, 16, 1>(rms_norm_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__float64__8(const __grid_constant__ rms_norm_call call) {
    rms_norm<double, false, 2, 0>(rms_norm_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__float64__9(const __grid_constant__ rms_norm_call call) {
    rms_norm<double, false, 0, 0>(rms_norm_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__float32__0(const __grid_constant__ rms_norm_call call) {
    rms_norm<float, true, 1, 0>(rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float32__1(const __grid_constant__ rms_norm_call call) {
    rms_norm<float, true, 1, 1>(rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float32__2(const __grid_constant__ rms_norm_call call) {
    rms_norm<float, true, 1, 4>(rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float32__3(const __grid_constant__ rms_norm_call call) {
    rms_norm<float, true, 2, 1>(rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float32__4(const __grid_constant__ rms_norm_call call) {
    rms_norm<float, true, 2, 2>(rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__float32__5(const __grid_constant__ rms_norm_call call) {
    rms_norm<float, true, 4, 0>(rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(512)
rms_norm__float32__6(const __grid_constant__ rms_norm_call call) {
    rms_norm<float, false, 4, 2>(rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float32__7(const __grid_constant__ rms_norm_call call) {
    rms_norm<float, false, 16, 1>(rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__float32__8(const __grid_constant__ rms_norm_call call) {
    rms_norm<float, false, 2, 0>(rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__float32__9(const __grid_constant__ rms_norm_call call) {
    rms_norm<float, false, 0, 0>(rms_norm_args<float>(call));
}

#endif

#if CUDA_UNIT == 1

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__float16__0(const __grid_constant__ rms_norm_call call) {
    rms_norm<__half, true, 1, 0>(rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float16__1(const __grid_constant__ rms_norm_call call) {
    rms_norm<__half, true, 1, 1>(rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float16__2(const __grid_constant__ rms_norm_call call) {
    rms_norm<__half, true, 1, 4>(rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float16__3(const __grid_constant__ rms_norm_call call) {
    rms_norm<__half, true, 2, 1>(rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float16__4(const __grid_constant__ rms_norm_call call) {
    rms_norm<__half, true, 2, 2>(rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__float16__5(const __grid_constant__ rms_norm_call call) {
    rms_norm<__half, true, 4, 0>(rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(512)
rms_norm__float16__6(const __grid_constant__ rms_norm_call call) {
    rms_norm<__half, false, 4, 2>(rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float16__7(const __grid_constant__ rms_norm_call call) {
    rms_norm<__half, false, 16, 1>(rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__float16__8(const __grid_constant__ rms_norm_call call) {
    rms_norm<__half, false, 2, 0>(rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__float16__9(const __grid_constant__ rms_norm_call call) {
    rms_norm<__half, false, 0, 0>(rms_norm_args<__half>(call));
}

#endif

#if CUDA_UNIT == 2

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__bfloat16__0(const __grid_constant__ rms_norm_call call) {
    rms_norm<__nv_bfloat16, true, 1, 0>(rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__bfloat16__1(const __grid_constant__ rms_norm_call call) {
    rms_norm<__nv_bfloat16, true, 1, 1>(rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__bfloat16__2(const __grid_constant__ rms_norm_call call) {
    rms_norm<__nv_bfloat16, true, 1, 4>(rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__bfloat16__3(const __grid_constant__ rms_norm_call call) {
    rms_norm<__nv_bfloat16, true, 2, 1>(rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__bfloat16__4(const __grid_constant__ rms_norm_call call) {
    rms_norm<__nv_bfloat16, true, 2, 2>(rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__bfloat16__5(const __grid_constant__ rms_norm_call call) {
    rms_norm<__nv_bfloat16, true, 4, 0>(rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(512)
rms_norm__bfloat16__6(const __grid_constant__ rms_norm_call call) {
    rms_norm<__nv_bfloat16, false, 4, 2>(rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__bfloat16__7(const __grid_constant__ rms_norm_call call) {
    rms_norm<__nv_bfloat16, false, 16, 1>(rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__bfloat16__8(const __grid_constant__ rms_norm_call call) {
    rms_norm<__nv_bfloat16, false, 2, 0>(rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm__bfloat16__9(const __grid_constant__ rms_norm_call call) {
    rms_norm<__nv_bfloat16, false, 0, 0>(rms_norm_args<__nv_bfloat16>(call));
}

#endif
