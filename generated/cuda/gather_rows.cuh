// my_ops::gather_rows(Tensor table, Tensor index) -> Tensor
//
// What the device functions of gather_rows see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "gather_rows_call.h"

template <typename T, typename I>
struct gather_rows_args {
    const T *table;
    const I *index;
    T *y;
    int64_t m;
    int64_t n;
    int64_t k;

    __device__ explicit gather_rows_args(const gather_rows_call &call)
        : table(static_cast<const T *>(call.table))
        , index(static_cast<const I *>(call.index))
        , y(static_cast<T *>(call.y))
        , m(call.m)
        , n(call.n)
        , k(call.k)
    {}
};
