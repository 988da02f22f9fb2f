// my_ops::rms_norm(Tensor x, Tensor weight, float eps=1e-06) -> Tensor
//
// The kernels of rms_norm: its body for each choice of dtypes and each entry of `launch:`.
#include "../../csrc/rms_norm.cu"

extern "C" __global__ void __launch_bounds__(128)
rms_norm__float64__0(const __grid_constant__ rms_norm_call call) {
    rms_norm<double, 8, 32>(rms_norm_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float64__1(const __grid_constant__ rms_norm_call call) {
    rms_norm<double, 1, 256>(rms_norm_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(128)
rms_norm__float32__0(const __grid_constant__ rms_norm_call call) {
    rms_norm<float, 8, 32>(rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float32__1(const __grid_constant__ rms_norm_call call) {
    rms_norm<float, 1, 256>(rms_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(128)
rms_norm__float16__0(const __grid_constant__ rms_norm_call call) {
    rms_norm<__half, 8, 32>(rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__float16__1(const __grid_constant__ rms_norm_call call) {
    rms_norm<__half, 1, 256>(rms_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(128)
rms_norm__bfloat16__0(const __grid_constant__ rms_norm_call call) {
    rms_norm<__nv_bfloat16, 8, 32>(rms_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
rms_norm__bfloat16__1(const __grid_constant__ rms_norm_call call) {
    rms_norm<__nv_bfloat16, 1, 256>(rms_norm_args<__nv_bfloat16>(call));
}

