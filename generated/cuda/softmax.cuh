// my_ops::softmax(Tensor x, Tensor? bias=None, float scale=1.0, bool causal=False) -> Tensor
//
// What the device functions of softmax see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "softmax_call.h"

template <typename T>
struct softmax_args {
    const T *x;
    const T *bias;
    T *y;
    int64_t bias_dim;
    const int64_t *bias_size;
    const int64_t *bias_stride;
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t rows;
    int64_t span;
    int64_t lanes;
    int64_t short_block;
    int64_t stage_lanes;
    int64_t cluster;
    int64_t spread;
    int64_t slab;
    int64_t slab_rows;
    int64_t runs;
    acc_t<T> scale;
    bool causal;

    __device__ explicit softmax_args(const softmax_call &call)
        : x(static_cast<const T *>(call.x))
        , bias(static_cast<const T *>(call.bias))
        , y(static_cast<T *>(call.y))
        , bias_dim(call.bias_dim)
        , bias_size(call.bias_size)
        , bias_stride(call.bias_stride)
        , batch(call.batch)
        , m(call.m)
        , n(call.n)
        , rows(call.rows)
        , span(call.span)
        , lanes(call.lanes)
        , short_block(call.short_block)
        , stage_lanes(call.stage_lanes)
        , cluster(call.cluster)
        , spread(call.spread)
        , slab(call.slab)
        , slab_rows(call.slab_rows)
        , runs(call.runs)
        , scale(static_cast<acc_t<T>>(call.scale))
        , causal(call.causal)
    {}
};
