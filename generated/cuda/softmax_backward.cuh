// my_ops::softmax_backward(Tensor grad_y, Tensor y, float scale, bool causal, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
//
// What the device functions of softmax_backward see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "softmax_backward_call.h"

template <typename T>
struct softmax_backward_args {
    const T *grad_y;
    const T *y;
    T *grad_x;
    acc_t<T> *grad_bias;
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t rows;
    int64_t span;
    int64_t lanes;
    int64_t stage_lanes;
    int64_t cluster;
    int64_t spread;
    int64_t slab;
    int64_t slab_rows;
    int64_t runs;
    acc_t<T> scale;
    bool causal;

    __device__ explicit softmax_backward_args(const softmax_backward_call &call)
        : grad_y(static_cast<const T *>(call.grad_y))
        , y(static_cast<const T *>(call.y))
        , grad_x(static_cast<T *>(call.grad_x))
        , grad_bias(static_cast<acc_t<T> *>(call.grad_bias))
        , batch(call.batch)
        , m(call.m)
        , n(call.n)
        , rows(call.rows)
        , span(call.span)
        , lanes(call.lanes)
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
