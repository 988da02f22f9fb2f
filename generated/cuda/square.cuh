// my_ops::square(Tensor x) -> Tensor
//
// What the device functions of square see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "square_call.h"

template <typename T>
struct square_args {
    const T *x;
    T *y;
    int64_t shape;

    __device__ explicit square_args(const square_call &call)
        : x(static_cast<const T *>(call.x))
        , y(static_cast<T *>(call.y))
        , shape(call.shape)
    {}
};
