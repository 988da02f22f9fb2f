// my_ops::square_backward(Tensor grad_y, Tensor x) -> Tensor
//
// What the device functions of square_backward see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "square_backward_call.h"

template <typename T>
struct square_backward_args {
    const T *grad_y;
    const T *x;
    T *grad_x;
    int64_t shape;

    __device__ explicit square_backward_args(const square_backward_call &call)
        : grad_y(static_cast<const T *>(call.grad_y))
        , x(static_cast<const T *>(call.x))
        , grad_x(static_cast<T *>(call.grad_x))
        , shape(call.shape)
    {}
};
