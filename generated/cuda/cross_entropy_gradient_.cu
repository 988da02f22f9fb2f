// my_ops::cross_entropy_gradient_(Tensor(a!) logits, Tensor target, Tensor? grad_loss=None, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor
//
// The kernels of cross_entropy_gradient_: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/cross_entropy_gradient_.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_cross_entropy_gradient__cu_defines { using ::cross_entropy_gradient_; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___float32__0(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<float, true, 1, 0>(cross_entropy_gradient__args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_gradient___float32__1(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<float, true, 2, 1>(cross_entropy_gradient__args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_gradient___float32__2(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<float, true, 2, 2>(cross_entropy_gradient__args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___float32__3(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<float, true, 4, 0>(cross_entropy_gradient__args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___float32__4(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<float, true, 8, 0>(cross_entropy_gradient__args<float>(call));
}

extern "C" __global__ void __launch_bounds__(512)
cross_entropy_gradient___float32__5(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<float, false, 2, 2>(cross_entropy_gradient__args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_gradient___float32__6(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<float, false, 1, 1>(cross_entropy_gradient__args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___float32__7(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<float, false, 4, 0>(cross_entropy_gradient__args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___float32__8(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<float, false, 0, 0>(cross_entropy_gradient__args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___bfloat16__0(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__nv_bfloat16, true, 1, 0>(cross_entropy_gradient__args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_gradient___bfloat16__1(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__nv_bfloat16, true, 2, 1>(cross_entropy_gradient__args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_gradient___bfloat16__2(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__nv_bfloat16, true, 2, 2>(cross_entropy_gradient__args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___bfloat16__3(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__nv_bfloat16, true, 4, 0>(cross_entropy_gradient__args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___bfloat16__4(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__nv_bfloat16, true, 8, 0>(cross_entropy_gradient__args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(512)
cross_entropy_gradient___bfloat16__5(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__nv_bfloat16, false, 2, 2>(cross_entropy_gradient__args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_gradient___bfloat16__6(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__nv_bfloat16, false, 1, 1>(cross_entropy_gradient__args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___bfloat16__7(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__nv_bfloat16, false, 4, 0>(cross_entropy_gradient__args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___bfloat16__8(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__nv_bfloat16, false, 0, 0>(cross_entropy_gradient__args<__nv_bfloat16>(call));
}

#endif

#if CUDA_UNIT == 1

extern "C" __global__ void __launch_bounds__(512)
cross_entropy_gradient___float64__5(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<double, false, 2, 2>(cross_entropy_gradient__args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_gradient___float64__6(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<double, false, 1, 1>(cross_entropy_gradient__args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___float64__7(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<double, false, 4, 0>(cross_entropy_gradient__args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___float64__8(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<double, false, 0, 0>(cross_entropy_gradient__args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___float16__0(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__half, true, 1, 0>(cross_entropy_gradient__args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_gradient___float16__1(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__half, true, 2, 1>(cross_entropy_gradient__args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_gradient___float16__2(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__half, true, 2, 2>(cross_entropy_gradient__args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___float16__3(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__half, true, 4, 0>(cross_entropy_gradient__args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___float16__4(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__half, true, 8, 0>(cross_entropy_gradient__args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(512)
cross_entropy_gradient___float16__5(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__half, false, 2, 2>(cross_entropy_gradient__args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
cross_entropy_gradient___float16__6(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__half, false, 1, 1>(cross_entropy_gradient__args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___float16__7(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__half, false, 4, 0>(cross_entropy_gradient__args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
cross_entropy_gradient___float16__8(const __grid_constant__ cross_entropy_gradient__call call) {
    cross_entropy_gradient_<__half, false, 0, 0>(cross_entropy_gradient__args<__half>(call));
}

#endif
