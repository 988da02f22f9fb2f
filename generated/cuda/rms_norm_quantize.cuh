// my_ops::rms_norm_quantize(Tensor x, Tensor? weight=None, float eps=1e-06, float offset=0.0, *, ScalarType dtype=int8) -> (Tensor, Tensor)
//
// What the device functions of rms_norm_quantize see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "float8.cuh"
#include "rms_norm_quantize_call.h"

template <typename T, typename Q>
struct rms_norm_quantize_args {
    const T *x;
    const T *weight;
    Q *q;
    float *scale;
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

    __device__ explicit rms_norm_quantize_args(const rms_norm_quantize_call &call)
        : x(static_cast<const T *>(call.x))
        , weight(static_cast<const T *>(call.weight))
        , q(static_cast<Q *>(call.q))
        , scale(static_cast<float *>(call.scale))
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
