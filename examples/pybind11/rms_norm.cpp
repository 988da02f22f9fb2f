// The classic form of an extension: a function that checks its tensors with macros, allocates its result, calls a kernel,
// and is bound to Python by pybind11. The kernels are those of my_ops::rms_norm.
//
// What it leaves to the reader: gradients, torch.compile, dtypes but float32, strides, and a build for each version of
// Python and of PyTorch. my_ops._C has the same call without these gaps but the first two, which torch.ops has.
#include <torch/extension.h>

#include "rms_norm_kernels.h"

#define CHECK_DEVICE(x) TORCH_CHECK(x.is_cpu() || x.is_cuda(), #x " must be a CPU or CUDA tensor")
#define CHECK_CONTIGUOUS(x) TORCH_CHECK(x.is_contiguous(), #x " must be contiguous")
#define CHECK_FLOAT(x) TORCH_CHECK(x.scalar_type() == torch::kFloat32, #x " must be float32")
#define CHECK_INPUT(x) \
    CHECK_DEVICE(x);   \
    CHECK_CONTIGUOUS(x); \
    CHECK_FLOAT(x)

#ifdef WITH_CUDA
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>
#endif

torch::Tensor rms_norm(torch::Tensor x, torch::Tensor weight, double eps) {
    CHECK_INPUT(x);
    CHECK_INPUT(weight);
    TORCH_CHECK(x.dim() >= 1 && weight.dim() == 1 && x.size(-1) == weight.size(0), "weight must be as long as rows of x");
    TORCH_CHECK(x.device() == weight.device(), "x and weight must be on one device");
    torch::Tensor y = torch::empty_like(x);
    rms_norm_call call = {};
    call.x = x.data_ptr<float>();
    call.weight = weight.data_ptr<float>();
    call.y = y.data_ptr<float>();
    call.n = x.size(-1);
    call.rows = call.n == 0 ? 0 : x.numel() / call.n;
    call.eps = eps;
    if (x.is_cpu()) {
        rms_norm__float32(&call, 0, call.rows, nullptr);
        return y;
    }
#ifdef WITH_CUDA
    const c10::cuda::CUDAGuard guard(x.device());
    rms_norm_launch(&call, c10::cuda::getCurrentCUDAStream());
    C10_CUDA_KERNEL_LAUNCH_CHECK();
#endif
    return y;
}

PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) {
    m.def("rms_norm", &rms_norm, "x / sqrt(mean(x * x) + eps) * weight", py::arg("x"), py::arg("weight"), py::arg("eps"));
}
