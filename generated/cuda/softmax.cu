// my_ops::softmax(Tensor x, Tensor? bias=None, float scale=1.0, bool causal=False) -> Tensor
//
// The kernels of softmax: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/softmax.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_softmax_cu_defines { using ::softmax; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(1024)
softmax__float32__0(const __grid_constant__ softmax_call call) {
    softmax<float, true, 1, 0>(softmax_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax__float32__1(const __grid_constant__ softmax_call call) {
    softmax<float, true, 2, 1>(softmax_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax__float32__2(const __grid_constant__ softmax_call call) {
    softmax<float, true, 2, 2>(softmax_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__float32__3(const __grid_constant__ softmax_call call) {
    softmax<float, true, 4, 0>(softmax_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__float32__4(const __grid_constant__ softmax_call call) {
    softmax<float, true, 8, 0>(softmax_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax__float32__5(const __grid_constant__ softmax_call call) {
    softmax<float, false, 2, 2>(softmax_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax__float32__6(const __grid_constant__ softmax_call call) {
    softmax<float, false, 1, 1>(softmax_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__float32__7(const __grid_constant__ softmax_call call) {
    softmax<float, false, 4, 0>(softmax_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__float32__8(const __grid_constant__ softmax_call call) {
    softmax<float, false, 0, 0>(softmax_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__bfloat16__0(const __grid_constant__ softmax_call call) {
    softmax<__nv_bfloat16, true, 1, 0>(softmax_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax__bfloat16__1(const __grid_constant__ softmax_call call) {
    softmax<__nv_bfloat16, true, 2, 1>(softmax_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax__bfloat16__2(const __grid_constant__ softmax_call call) {
    softmax<__nv_bfloat16, true, 2, 2>(softmax_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__bfloat16__3(const __grid_constant__ softmax_call call) {
    softmax<__nv_bfloat16, true, 4, 0>(softmax_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__bfloat16__4(const __grid_constant__ softmax_call call) {
    softmax<__nv_bfloat16, true, 8, 0>(softmax_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax__bfloat16__5(const __grid_constant__ softmax_call call) {
    softmax<__nv_bfloat16, false, 2, 2>(softmax_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax__bfloat16__6(const __grid_constant__ softmax_call call) {
    softmax<__nv_bfloat16, false, 1, 1>(softmax_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__bfloat16__7(const __grid_constant__ softmax_call call) {
    softmax<__nv_bfloat16, false, 4, 0>(softmax_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__bfloat16__8(const __grid_constant__ softmax_call call) {
    softmax<__nv_bfloat16, false, 0, 0>(softmax_args<__nv_bfloat16>(call));
}

#endif

#if CUDA_UNIT == 1

extern "C" __global__ void __launch_bounds__(512)
softmax__float64__5(const __grid_constant__ softmax_call call) {
    softmax<double, false, 2, 2>(softmax_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax__float64__6(const __grid_constant__ softmax_call call) {
    softmax<double, false, 1, 1>(softmax_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__float64__7(const __grid_constant__ softmax_call call) {
    softmax<double, false, 4, 0>(softmax_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__float64__8(const __grid_constant__ softmax_call call) {
    softmax<double, false, 0, 0>(softmax_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__float16__0(const __grid_constant__ softmax_call call) {
    softmax<__half, true, 1, 0>(softmax_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax__float16__1(const __grid_constant__ softmax_call call) {
    softmax<__half, true, 2, 1>(softmax_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax__float16__2(const __grid_constant__ softmax_call call) {
    softmax<__half, true, 2, 2>(softmax_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__float16__3(const __grid_constant__ softmax_call call) {
    softmax<__half, true, 4, 0>(softmax_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__float16__4(const __grid_constant__ softmax_call call) {
    softmax<__half, true, 8, 0>(softmax_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(512)
softmax__float16__5(const __grid_constant__ softmax_call call) {
    softmax<__half, false, 2, 2>(softmax_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
softmax__float16__6(const __grid_constant__ softmax_call call) {
    softmax<__half, false, 1, 1>(softmax_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__float16__7(const __grid_constant__ softmax_call call) {
    softmax<__half, false, 4, 0>(softmax_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(1024)
softmax__float16__8(const __grid_constant__ softmax_call call) {
    softmax<__half, false, 0, 0>(softmax_args<__half>(call));
}

#endif
