// my_ops::layer_norm(Tensor x, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor
//
// What the device functions of layer_norm see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "layer_norm_call.h"

template <typename T>
struct layer_norm_args {
    const T *x;
    const T *weight;
    const T *bias;
    T *y;
    acc_t<T> *mean;
    acc_t<T> *rstd;
    int64_t rows;
    int64_t n;
    int64_t span;
    int64_t lanes;
    int64_t short_block;
    int64_t cluster;
    int64_t halves;
    int64_t spread;
    int64_t slab;
    int64_t slab_rows;
    int64_t runs;
    acc_t<T> eps;

    __device__ explicit layer_norm_args(const layer_norm_call &call)
        : x(static_cast<const T *>(call.x))
        , weight(static_cast<const T *>(call.weight))
        , bias(static_cast<const T *>(call.bias))
        , y(static_cast<T *>(call.y))
        , mean(static_cast<acc_t<T> *>(call.mean))
        , rstd(static_cast<acc_t<T> *>(call.rstd))
        , rows(call.rows)
        , n(call.n)
        , span(call.span)
        , lanes(call.lanes)
        , short_block(call.short_block)
        , cluster(call.cluster)
        , halves(call.halves)
        , spread(call.spread)
        , slab(call.slab)
        , slab_rows(call.slab_rows)
        , runs(call.runs)
        , eps(static_cast<acc_t<T>>(call.eps))
    {}
};
