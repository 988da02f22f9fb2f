// my_ops::global_norm(Tensor[] xs) -> Tensor
//
// The kernels of global_norm: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/global_norm.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_global_norm_cu_defines { using ::global_norm_parts; }
namespace csrc_global_norm_cu_defines { using ::global_norm_total; }
#include "list_piece.h"

#if CUDA_UNIT == 0
extern "C" __global__ void __launch_bounds__(LIST_PIECE_WORDS)
global_norm__store_list(const __grid_constant__ list_piece piece) {
    if (threadIdx.x < piece.count) {
        piece.to[threadIdx.x] = piece.words[threadIdx.x];
    }
}
#endif

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(256)
global_norm_parts__float64__0(const __grid_constant__ global_norm_call call) {
    global_norm_parts<double>(global_norm_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
global_norm_parts__float32__0(const __grid_constant__ global_norm_call call) {
    global_norm_parts<float>(global_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
global_norm_parts__float16__0(const __grid_constant__ global_norm_call call) {
    global_norm_parts<__half>(global_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
global_norm_parts__bfloat16__0(const __grid_constant__ global_norm_call call) {
    global_norm_parts<__nv_bfloat16>(global_norm_args<__nv_bfloat16>(call));
}

extern "C" __global__ void __launch_bounds__(256)
global_norm_total__float64__0(const __grid_constant__ global_norm_call call) {
    global_norm_total<double>(global_norm_args<double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
global_norm_total__float32__0(const __grid_constant__ global_norm_call call) {
    global_norm_total<float>(global_norm_args<float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
global_norm_total__float16__0(const __grid_constant__ global_norm_call call) {
    global_norm_total<__half>(global_norm_args<__half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
global_norm_total__bfloat16__0(const __grid_constant__ global_norm_call call) {
    global_norm_total<__nv_bfloat16>(global_norm_args<__nv_bfloat16>(call));
}

#endif
