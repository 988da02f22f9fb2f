// RMSNorm forward for load_inline: a plain CUDA kernel, a block for each row, and the C++ function that launches it.
#include <ATen/Dispatch.h>
#include <ATen/OpMathType.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

template <typename T>
__global__ void rms_norm_rows(const T* x, const T* weight, T* y, int64_t n, float eps) {
    using A = at::opmath_type<T>;
    __shared__ A sums[256];
    const T* from = x + blockIdx.x * n;
    A sum = 0;
    for (int64_t i = threadIdx.x; i < n; i += 256) {
        sum += static_cast<A>(from[i]) * static_cast<A>(from[i]);
    }
    sums[threadIdx.x] = sum;
    for (int half = 128; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) {
            sums[threadIdx.x] += sums[threadIdx.x + half];
        }
    }
    __syncthreads();
    const A rstd = A(1) / sqrt(sums[0] / static_cast<A>(n) + static_cast<A>(eps));
    for (int64_t i = threadIdx.x; i < n; i += 256) {
        y[blockIdx.x * n + i] = static_cast<T>(static_cast<A>(from[i]) * rstd * static_cast<A>(weight[i]));
    }
}

torch::Tensor rms_norm_cuda(const torch::Tensor& x, const torch::Tensor& weight, double eps) {
    TORCH_CHECK(x.is_cuda() && x.is_contiguous() && weight.is_contiguous() && weight.size(0) == x.size(-1));
    const c10::cuda::CUDAGuard guard(x.device());
    torch::Tensor y = torch::empty_like(x);
    const int64_t n = x.size(-1);
    AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "rms_norm", [&] {
        rms_norm_rows<scalar_t><<<x.numel() / n, 256, 0, c10::cuda::getCurrentCUDAStream()>>>(
            x.const_data_ptr<scalar_t>(), weight.const_data_ptr<scalar_t>(), y.mutable_data_ptr<scalar_t>(), n,
            static_cast<float>(eps));
        C10_CUDA_KERNEL_LAUNCH_CHECK();
    });
    return y;
}
