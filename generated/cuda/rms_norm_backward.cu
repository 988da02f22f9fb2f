// my_ops::rms_norm_backward(Tensor grad_y, Tensor x, Tensor? weight, Tensor rstd, float offset, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
//
// The kernels of rms_norm_backward: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/rms_norm_backward.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_rms_norm_backward_cu_defines { using ::rms_norm_backward_rows; }
namespace csrc_rms_norm_backward_cu_defines { using ::rms_norm_backward_columns; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__float32__0(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<float, true, false, 0>(rms_norm_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__float32__1(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<float, true, false, 1>(rms_norm_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__float32__2(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<float, true, false, 2>(rms_norm_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(512)
rms_norm_backward_rows__float32__3(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<float, false, true, 2>(rms_norm_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__float32__4(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<float, false, false, 2>(rms_norm_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__float32__5(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<float, false, false, 0>(rms_norm_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__bfloat16__0(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<__nv_bfloat16, true, false, 0>(rms_norm_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__bfloat16__1(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<__nv_bfloat16, true, false, 1>(rms_norm_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__bfloat16__2(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<__nv_bfloat16, true, false, 2>(rms_norm_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(512)
rms_norm_backward_rows__bfloat16__3(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<__nv_bfloat16, false, true, 2>(rms_norm_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__bfloat16__4(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<__nv_bfloat16, false, false, 2>(rms_norm_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__bfloat16__5(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<__nv_bfloat16, false, false, 0>(rms_norm_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm_backward_columns__float32__0(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_columns<float>(rms_norm_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm_backward_columns__bfloat16__0(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_columns<__nv_bfloat16>(rms_norm_backward_args<__nv_bfloat16>(call));
}

#endif

#if CUDA_UNIT == 1

extern "C" __global__ void __launch_bounds__(512)
rms_norm_backward_rows__float64__3(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<double, false, true, 2>(rms_norm_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__float64__4(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<double, false, false, 2>(rms_norm_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__float64__5(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<double, false, false, 0>(rms_norm_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__float16__0(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<__half, true, false, 0>(rms_norm_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__float16__1(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<__half, true, false, 1>(rms_norm_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__float16__2(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<__half, true, false, 2>(rms_norm_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(512)
rms_norm_backward_rows__float16__3(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<__half, false, true, 2>(rms_norm_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__float16__4(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<__half, false, false, 2>(rms_norm_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
rms_norm_backward_rows__float16__5(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_rows<__half, false, false, 0>(rms_norm_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm_backward_columns__float64__0(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_columns<double>(rms_norm_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm_backward_columns__float16__0(const __grid_constant__ rms_norm_backward_call call) {
    rms_norm_backward_columns<__half>(rms_norm_backward_args<__half>(call));
}

#endif
