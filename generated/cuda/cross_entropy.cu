// my_ops::cross_entropy(Tensor logits, Tensor target, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor
//
// The kernels of cross_entropy: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/cross_entropy.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_cross_entropy_cu_defines { using ::cross_entropy; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__float32__0(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<float, true, 1, 0>(cross_entropy_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy__float32__1(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<float, true, 2, 1>(cross_entropy_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy__float32__2(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<float, true, 2, 2>(cross_entropy_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__float32__3(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<float, true, 4, 0>(cross_entropy_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__float32__4(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<float, true, 8, 0>(cross_entropy_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(512)
cross_entropy__float32__5(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<float, false, 4, 2>(cross_entropy_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy__float32__6(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<float, false, 1, 1>(cross_entropy_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__float32__7(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<float, false, 4, 0>(cross_entropy_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__float32__8(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<float, false, 0, 0>(cross_entropy_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__bfloat16__0(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__nv_bfloat16, true, 1, 0>(cross_entropy_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy__bfloat16__1(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__nv_bfloat16, true, 2, 1>(cross_entropy_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy__bfloat16__2(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__nv_bfloat16, true, 2, 2>(cross_entropy_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__bfloat16__3(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__nv_bfloat16, true, 4, 0>(cross_entropy_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__bfloat16__4(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__nv_bfloat16, true, 8, 0>(cross_entropy_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(512)
cross_entropy__bfloat16__5(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__nv_bfloat16, false, 4, 2>(cross_entropy_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy__bfloat16__6(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__nv_bfloat16, false, 1, 1>(cross_entropy_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__bfloat16__7(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__nv_bfloat16, false, 4, 0>(cross_entropy_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__bfloat16__8(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__nv_bfloat16, false, 0, 0>(cross_entropy_args<__nv_bfloat16>(call));
}

#endif

#if CUDA_UNIT == 1

extern "C" __global__ void __launch_bounds__(512)
cross_entropy__float64__5(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<double, false, 4, 2>(cross_entropy_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy__float64__6(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<double, false, 1, 1>(cross_entropy_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__float64__7(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<double, false, 4, 0>(cross_entropy_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__float64__8(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<double, false, 0, 0>(cross_entropy_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__float16__0(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__half, true, 1, 0>(cross_entropy_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy__float16__1(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__half, true, 2, 1>(cross_entropy_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy__float16__2(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__half, true, 2, 2>(cross_entropy_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__float16__3(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__half, true, 4, 0>(cross_entropy_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__float16__4(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__half, true, 8, 0>(cross_entropy_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(512)
cross_entropy__float16__5(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__half, false, 4, 2>(cross_entropy_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy__float16__6(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__half, false, 1, 1>(cross_entropy_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__float16__7(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__half, false, 4, 0>(cross_entropy_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy__float16__8(const __grid_constant__ cross_entropy_call call) {
    cross_entropy<__half, false, 0, 0>(cross_entropy_args<__half>(call));
}

#endif
