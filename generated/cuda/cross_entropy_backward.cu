// my_ops::cross_entropy_backward(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, int ignore_index, float label_smoothing, float z_loss) -> Tensor
//
// The kernels of cross_entropy_backward: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/cross_entropy_backward.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_cross_entropy_backward_cu_defines { using ::cross_entropy_backward; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float64__0(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<double, true, true>(cross_entropy_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float64__1(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<double, false, true>(cross_entropy_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float64__2(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<double, true, false>(cross_entropy_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float64__3(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<double, false, false>(cross_entropy_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float32__0(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<float, true, true>(cross_entropy_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float32__1(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<float, false, true>(cross_entropy_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float32__2(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<float, true, false>(cross_entropy_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float32__3(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<float, false, false>(cross_entropy_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float16__0(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<__half, true, true>(cross_entropy_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float16__1(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<__half, false, true>(cross_entropy_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float16__2(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<__half, true, false>(cross_entropy_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float16__3(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<__half, false, false>(cross_entropy_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__bfloat16__0(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<__nv_bfloat16, true, true>(cross_entropy_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__bfloat16__1(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<__nv_bfloat16, false, true>(cross_entropy_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__bfloat16__2(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<__nv_bfloat16, true, false>(cross_entropy_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__bfloat16__3(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<__nv_bfloat16, false, false>(cross_entropy_backward_args<__nv_bfloat16>(call));
}

#endif
