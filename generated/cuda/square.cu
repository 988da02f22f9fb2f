// my_ops::square(Tensor x) -> Tensor
//
// The kernels of square: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/square.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_square_cu_defines { using ::square; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(256)
square__float64__0(const __grid_constant__ square_call call) {
    square<double>(square_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
square__float32__0(const __grid_constant__ square_call call) {
    square<float>(square_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
square__float16__0(const __grid_constant__ square_call call) {
    square<__half>(square_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
square__bfloat16__0(const __grid_constant__ square_call call) {
    square<__nv_bfloat16>(square_args<__nv_bfloat16>(call));
}

#endif
