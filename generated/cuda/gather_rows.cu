// my_ops::gather_rows(Tensor table, Tensor index) -> Tensor
//
// The kernels of gather_rows: its body for each choice of dtypes and each entry of `launch:`.
// The build compiles this file once for each unit.
#include "../../csrc/gather_rows.cu"


// The compiler shows the line of the one that is not there.
namespace csrc_gather_rows_cu_defines { using ::gather_rows; }

#if CUDA_UNIT == 0

extern "C" __global__ void __launch_bounds__(256)
gather_rows__float64_int32__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<double, int32_t, true>(gather_rows_args<double, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__float64_int32__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<double, int32_t, false>(gather_rows_args<double, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__float16_int32__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<__half, int32_t, true>(gather_rows_args<__half, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__float16_int32__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<__half, int32_t, false>(gather_rows_args<__half, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__uint8_int32__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<uint8_t, int32_t, true>(gather_rows_args<uint8_t, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__uint8_int32__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<uint8_t, int32_t, false>(gather_rows_args<uint8_t, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int16_int32__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<int16_t, int32_t, true>(gather_rows_args<int16_t, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int16_int32__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<int16_t, int32_t, false>(gather_rows_args<int16_t, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int64_int32__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<int64_t, int32_t, true>(gather_rows_args<int64_t, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int64_int32__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<int64_t, int32_t, false>(gather_rows_args<int64_t, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__complex64_int32__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<float2, int32_t, true>(gather_rows_args<float2, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__complex64_int32__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<float2, int32_t, false>(gather_rows_args<float2, int32_t>(call));
}

#endif

#if CUDA_UNIT == 1

extern "C" __global__ void __launch_bounds__(256)
gather_rows__float64_int64__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<double, int64_t, true>(gather_rows_args<double, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__float64_int64__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<double, int64_t, false>(gather_rows_args<double, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__float16_int64__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<__half, int64_t, true>(gather_rows_args<__half, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__float16_int64__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<__half, int64_t, false>(gather_rows_args<__half, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__uint8_int64__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<uint8_t, int64_t, true>(gather_rows_args<uint8_t, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__uint8_int64__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<uint8_t, int64_t, false>(gather_rows_args<uint8_t, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int16_int64__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<int16_t, int64_t, true>(gather_rows_args<int16_t, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int16_int64__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<int16_t, int64_t, false>(gather_rows_args<int16_t, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int64_int64__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<int64_t, int64_t, true>(gather_rows_args<int64_t, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int64_int64__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<int64_t, int64_t, false>(gather_rows_args<int64_t, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__complex64_int64__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<float2, int64_t, true>(gather_rows_args<float2, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__complex64_int64__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<float2, int64_t, false>(gather_rows_args<float2, int64_t>(call));
}

#endif

#if CUDA_UNIT == 2

extern "C" __global__ void __launch_bounds__(256)
gather_rows__float32_int32__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<float, int32_t, true>(gather_rows_args<float, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__float32_int32__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<float, int32_t, false>(gather_rows_args<float, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__bfloat16_int32__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<__nv_bfloat16, int32_t, true>(gather_rows_args<__nv_bfloat16, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__bfloat16_int32__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<__nv_bfloat16, int32_t, false>(gather_rows_args<__nv_bfloat16, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int8_int32__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<int8_t, int32_t, true>(gather_rows_args<int8_t, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int8_int32__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<int8_t, int32_t, false>(gather_rows_args<int8_t, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int32_int32__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<int32_t, int32_t, true>(gather_rows_args<int32_t, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int32_int32__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<int32_t, int32_t, false>(gather_rows_args<int32_t, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__bool_int32__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<bool, int32_t, true>(gather_rows_args<bool, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__bool_int32__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<bool, int32_t, false>(gather_rows_args<bool, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__complex128_int32__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<double2, int32_t, true>(gather_rows_args<double2, int32_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__complex128_int32__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<double2, int32_t, false>(gather_rows_args<double2, int32_t>(call));
}

#endif

#if CUDA_UNIT == 3

extern "C" __global__ void __launch_bounds__(256)
gather_rows__float32_int64__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<float, int64_t, true>(gather_rows_args<float, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__float32_int64__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<float, int64_t, false>(gather_rows_args<float, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__bfloat16_int64__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<__nv_bfloat16, int64_t, true>(gather_rows_args<__nv_bfloat16, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__bfloat16_int64__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<__nv_bfloat16, int64_t, false>(gather_rows_args<__nv_bfloat16, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int8_int64__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<int8_t, int64_t, true>(gather_rows_args<int8_t, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int8_int64__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<int8_t, int64_t, false>(gather_rows_args<int8_t, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int32_int64__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<int32_t, int64_t, true>(gather_rows_args<int32_t, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__int32_int64__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<int32_t, int64_t, false>(gather_rows_args<int32_t, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__bool_int64__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<bool, int64_t, true>(gather_rows_args<bool, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__bool_int64__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<bool, int64_t, false>(gather_rows_args<bool, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__complex128_int64__0(const __grid_constant__ gather_rows_call call) {
    gather_rows<double2, int64_t, true>(gather_rows_args<double2, int64_t>(call));
}

extern "C" __global__ void __launch_bounds__(256)
gather_rows__complex128_int64__1(const __grid_constant__ gather_rows_call call) {
    gather_rows<double2, int64_t, false>(gather_rows_args<double2, int64_t>(call));
}

#endif
