// my_ops::add_rms_norm(Tensor x, Tensor residual, Tensor? weight=None, float eps=1e-06, float offset=0.0) -> (Tensor, Tensor)
//
// What the device functions of add_rms_norm see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "add_rms_norm_call.h"

template <typename T>
struct add_rms_norm_args {
    const T *x;
    const T *residual;
    const T *weight;
    T *y;
    T *residual_out;
    acc_t<T> *rstd;
    int64_t rows;
    int64_t n;
    int64_t span;
    int64_t lanes;
    int64_t short_block;
    int64_t cluster;
    int64_t slab;
    int64_t slab_rows;
    int64_t runs;
    acc_t<T> eps;
    acc_t<T> offset;

    __device__ explicit add_rms_norm_args(const add_rms_norm_call &call)
        : x(static_cast<const T *>(call.x))
        , residual(static_cast<const T *>(call.residual))
        , weight(static_cast<const T *>(call.weight))
        , y(static_cast<T *>(call.y))
        , residual_out(static_cast<T *>(call.residual_out))
        , rstd(static_cast<acc_t<T> *>(call.rstd))
        , rows(call.rows)
        , n(call.n)
        , span(call.span)
        , lanes(call.lanes)
        , short_block(call.short_block)
        , cluster(call.cluster)
        , slab(call.slab)
        , slab_rows(call.slab_rows)
        , runs(call.runs)
        , eps(static_cast<acc_t<T>>(call.eps))
        , offset(static_cast<acc_t<T>>(call.offset))
    {}
};
