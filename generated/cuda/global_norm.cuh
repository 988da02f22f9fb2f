// my_ops::global_norm(Tensor[] xs) -> Tensor
//
// What the device functions of global_norm see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "global_norm_call.h"

template <typename T>
struct global_norm_args {
    const T *const *xs;
    int64_t xs_count;
    acc_t<T> *norm;
    acc_t<T> *partial;
    int64_t partial_size[1];
    const int64_t *s;
    int64_t total;
    int64_t parts;

    __device__ explicit global_norm_args(const global_norm_call &call)
        : xs(reinterpret_cast<const T *const *>(call.xs))
        , xs_count(call.xs_count)
        , norm(static_cast<acc_t<T> *>(call.norm))
        , partial(static_cast<acc_t<T> *>(call.partial))
        , partial_size{call.partial_size[0]}
        , s(call.s)
        , total(call.total)
        , parts(call.parts)
    {}
};
