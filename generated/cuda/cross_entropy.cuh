// my_ops::cross_entropy(Tensor logits, Tensor target, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor
//
// What the device functions of cross_entropy see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "cross_entropy_call.h"

template <typename T>
struct cross_entropy_args {
    const T *logits;
    const int64_t *target;
    acc_t<T> *loss;
    acc_t<T> *lse;
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

    __device__ explicit cross_entropy_args(const cross_entropy_call &call)
        : logits(static_cast<const T *>(call.logits))
        , target(static_cast<const int64_t *>(call.target))
        , loss(static_cast<acc_t<T> *>(call.loss))
        , lse(static_cast<acc_t<T> *>(call.lse))
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
