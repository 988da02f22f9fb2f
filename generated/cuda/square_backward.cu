// my_ops::square_backward(Tensor grad_y, Tensor x) -> Tensor
//
// The kernels of square_backward: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/square_backward.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_square_backward_cu_defines { using ::square_backward; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(256)
square_backward__float64__0(const __grid_constant__ square_backward_call call) {
    square_backward<double>(square_backward_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
square_backward__float32__0(const __grid_constant__ square_backward_call call) {
    square_backward<float>(square_backward_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
square_backward__float16__0(const __grid_constant__ square_backward_call call) {
    square_backward<__half>(square_backward_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
square_backward__bfloat16__0(const __grid_constant__ square_backward_call call) {
    square_backward<__nv_bfloat16>(square_backward_args<__nv_bfloat16>(call));
}

#endif
