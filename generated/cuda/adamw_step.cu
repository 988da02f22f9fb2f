// my_ops::adamw_step(Tensor(a!)[] params, Tensor[] grads, Tensor(b!)[] exp_avgs, Tensor(c!)[] exp_avg_sqs, SymInt step, Tensor? grad_scale=None, *, float lr=0.001, float[2] betas=[0.9, 0.999], float eps=1e-08, float weight_decay=0.01, bool maximize=False) -> ()
//
// The kernels of adamw_step: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/adamw_step.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_adamw_step_cu_defines { using ::adamw_step; }
#include "list_piece.h"

#if CUDA_UNIT == 0
extern "C" __global__ void __launch_bounds__(LIST_PIECE_WORDS)
adamw_step__store_list(const __grid_constant__ list_piece piece) {
    if (threadIdx.x < piece.count) {
        piece.to[threadIdx.x] = piece.words[threadIdx.x];
    }
}
#endif

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(256)
adamw_step__float64_float64__0(const __grid_constant__ adamw_step_call call) {
    adamw_step<double, double>(adamw_step_args<double, double>(call));
}

extern "C" __global__ void __launch_bounds__(256)
adamw_step__float64_float32__0(const __grid_constant__ adamw_step_call call) {
    adamw_step<double, float>(adamw_step_args<double, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
adamw_step__float32_float32__0(const __grid_constant__ adamw_step_call call) {
    adamw_step<float, float>(adamw_step_args<float, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
adamw_step__float16_float32__0(const __grid_constant__ adamw_step_call call) {
    adamw_step<__half, float>(adamw_step_args<__half, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
adamw_step__float16_float16__0(const __grid_constant__ adamw_step_call call) {
    adamw_step<__half, __half>(adamw_step_args<__half, __half>(call));
}

extern "C" __global__ void __launch_bounds__(256)
adamw_step__bfloat16_float32__0(const __grid_constant__ adamw_step_call call) {
    adamw_step<__nv_bfloat16, float>(adamw_step_args<__nv_bfloat16, float>(call));
}

extern "C" __global__ void __launch_bounds__(256)
adamw_step__bfloat16_bfloat16__0(const __grid_constant__ adamw_step_call call) {
    adamw_step<__nv_bfloat16, __nv_bfloat16>(adamw_step_args<__nv_bfloat16, __nv_bfloat16>(call));
}

#endif
