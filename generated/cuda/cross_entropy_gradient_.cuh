// my_ops::cross_entropy_gradient_(Tensor(a!) logits, Tensor target, Tensor? grad_loss=None, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor
//
// What the device functions of cross_entropy_gradient_ see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "cross_entropy_gradient__call.h"

template <typename T>
struct cross_entropy_gradient__args {
    T *logits;
    const int64_t *target;
    const acc_t<T> *grad_loss;
    acc_t<T> *loss;
    int64_t grad_loss_dim;
    const int64_t *grad_loss_size;
    const int64_t *grad_loss_stride;
    int64_t rows;
    int64_t n;
    int64_t span;
    int64_t lanes;
    int64_t short_block;
    int64_t stage_lanes;
    int64_t cluster;
    int64_t spread;
    int64_t slab;
    int64_t slab_rows;
    int64_t runs;
    int64_t ignore_index;
    acc_t<T> label_smoothing;
    acc_t<T> z_loss;

    __device__ explicit cross_entropy_gradient__args(const cross_entropy_gradient__call &call)
        : logits(static_cast<T *>(call.logits))
        , target(static_cast<const int64_t *>(call.target))
        , grad_loss(static_cast<const acc_t<T> *>(call.grad_loss))
        , loss(static_cast<acc_t<T> *>(call.loss))
        , grad_loss_dim(call.grad_loss_dim)
        , grad_loss_size(call.grad_loss_size)
        , grad_loss_stride(call.grad_loss_stride)
        , rows(call.rows)
        , n(call.n)
        , span(call.span)
        , lanes(call.lanes)
        , short_block(call.short_block)
        , stage_lanes(call.stage_lanes)
        , cluster(call.cluster)
        , spread(call.spread)
        , slab(call.slab)
        , slab_rows(call.slab_rows)
        , runs(call.runs)
        , ignore_index(call.ignore_index)
        , label_smoothing(static_cast<acc_t<T>>(call.label_smoothing))
        , z_loss(static_cast<acc_t<T>>(call.z_loss))
    {}
};
