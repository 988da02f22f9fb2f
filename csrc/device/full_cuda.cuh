// Around the host code of an operator with `full_cuda: true`: its errors, and C++ exceptions, become the error of the
// call.
#pragma once

#include <exception>

#include "launch.h"

// `call` is the function of the operator. An error that a launch in it has left behind is seen here, and nowhere else:
// this library has a CUDA runtime of its own.
template <typename F> bool full_cuda_call(const cuda_context *ctx, F call) noexcept {
    try {
        cudaGetLastError(); // of an earlier call
        const cudaError_t returned = call();
        const cudaError_t left = cudaGetLastError();
        const cudaError_t error = returned != cudaSuccess ? returned : left;
        return error == cudaSuccess ||
               custom_failed(ctx, static_cast<int>(error), cudaGetErrorName(error), cudaGetErrorString(error));
    } catch (const std::exception &exception) {
        return cuda_error(ctx, "%s", exception.what());
    } catch (...) {
        return cuda_error(ctx, "a C++ exception that tells nothing");
    }
}
