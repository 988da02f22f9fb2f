// my_ops::softmax_backward(Tensor grad_y, Tensor y, float scale, bool causal, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
//
// The kernels of softmax_backward: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/softmax_backward.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_softmax_backward_cu_defines { using ::softmax_backward; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(1024)
softmax_backward__float32__0(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<float, true, 1, 0>(softmax_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax_backward__float32__1(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<float, true, 2, 1>(softmax_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax_backward__float32__2(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<float, true, 2, 0>(softmax_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax_backward__float32__3(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<float, true, 4, 0>(softmax_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax_backward__float32__4(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<float, false, 2, 2>(softmax_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax_backward__float32__5(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<float, false, 1, 1>(softmax_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax_backward__float32__6(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<float, false, 4, 0>(softmax_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax_backward__float32__7(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<float, false, 0, 0>(softmax_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax_backward__bfloat16__0(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__nv_bfloat16, true, 1, 0>(softmax_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax_backward__bfloat16__1(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__nv_bfloat16, true, 2, 1>(softmax_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax_backward__bfloat16__2(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__nv_bfloat16, true, 2, 0>(softmax_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax_backward__bfloat16__3(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__nv_bfloat16, true, 4, 0>(softmax_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax_backward__bfloat16__4(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__nv_bfloat16, false, 2, 2>(softmax_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax_backward__bfloat16__5(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__nv_bfloat16, false, 1, 1>(softmax_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax_backward__bfloat16__6(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__nv_bfloat16, false, 4, 0>(softmax_backward_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax_backward__bfloat16__7(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__nv_bfloat16, false, 0, 0>(softmax_backward_args<__nv_bfloat16>(call));
}

#endif

#if CUDA_UNIT == 1

extern "C" __global__ void __launch_bounds__(512)
softmax_backward__float64__4(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<double, false, 2, 2>(softmax_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax_backward__float64__5(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<double, false, 1, 1>(softmax_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax_backward__float64__6(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<double, false, 4, 0>(softmax_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax_backward__float64__7(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<double, false, 0, 0>(softmax_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax_backward__float16__0(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__half, true, 1, 0>(softmax_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax_backward__float16__1(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__half, true, 2, 1>(softmax_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax_backward__float16__2(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__half, true, 2, 0>(softmax_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax_backward__float16__3(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__half, true, 4, 0>(softmax_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax_backward__float16__4(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__half, false, 2, 2>(softmax_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax_backward__float16__5(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__half, false, 1, 1>(softmax_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax_backward__float16__6(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__half, false, 4, 0>(softmax_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax_backward__float16__7(const __grid_constant__ softmax_backward_call call) {
    softmax_backward<__half, false, 0, 0>(softmax_backward_args<__half>(call));
}

#endif
