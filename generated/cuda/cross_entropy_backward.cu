// my_ops::cross_entropy_backward(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, int ignore_index, float label_smoothing, float z_loss) -> Tensor
//
// The kernels of cross_entropy_backward: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/cross_entropy_backward.cu"

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float64__0(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<double, true>(cross_entropy_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float64__1(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<double, false>(cross_entropy_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float32__0(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<float, true>(cross_entropy_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float32__1(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<float, false>(cross_entropy_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float16__0(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<__half, true>(cross_entropy_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__float16__1(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<__half, false>(cross_entropy_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__bfloat16__0(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<__nv_bfloat16, true>(cross_entropy_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_backward__bfloat16__1(const __grid_constant__ cross_entropy_backward_call call) {
    cross_entropy_backward<__nv_bfloat16, false>(cross_entropy_backward_args<__nv_bfloat16>(call));
}

#endif
