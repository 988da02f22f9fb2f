// my_ops::add_rms_norm_backward(Tensor grad_y, Tensor? grad_residual_out, Tensor residual_out, Tensor? weight, Tensor rstd, float offset, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
//
// What the device functions of add_rms_norm_backward see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "add_rms_norm_backward_call.h"

template <typename T>
struct add_rms_norm_backward_args {
    const T *grad_y;
    const T *grad_residual_out;
    const T *residual_out;
    const T *weight;
    const acc_t<T> *rstd;
    T *grad_x;
    T *grad_weight;
    acc_t<T> *partial;
    int64_t partial_size[2];
    int64_t rows;
    int64_t n;
    int64_t span;
    int64_t whole;
    int64_t few;
    int64_t runs;
    int64_t slab;
    int64_t slab_rows;
    int64_t run_blocks;
    int64_t limit;
    int64_t spread;
    int64_t cluster;
    int64_t threads;
    int64_t resident;
    int64_t groups;
    int64_t blocks;
    int64_t step;
    int64_t rounds;
    int64_t columns;
    acc_t<T> offset;

    __device__ explicit add_rms_norm_backward_args(const add_rms_norm_backward_call &call)
        : grad_y(static_cast<const T *>(call.grad_y))
        , grad_residual_out(static_cast<const T *>(call.grad_residual_out))
        , residual_out(static_cast<const T *>(call.residual_out))
        , weight(static_cast<const T *>(call.weight))
        , rstd(static_cast<const acc_t<T> *>(call.rstd))
        , grad_x(static_cast<T *>(call.grad_x))
        , grad_weight(static_cast<T *>(call.grad_weight))
        , partial(static_cast<acc_t<T> *>(call.partial))
        , partial_size{call.partial_size[0], call.partial_size[1]}
        , rows(call.rows)
        , n(call.n)
        , span(call.span)
        , whole(call.whole)
        , few(call.few)
        , runs(call.runs)
        , slab(call.slab)
        , slab_rows(call.slab_rows)
        , run_blocks(call.run_blocks)
        , limit(call.limit)
        , spread(call.spread)
        , cluster(call.cluster)
        , threads(call.threads)
        , resident(call.resident)
        , groups(call.groups)
        , blocks(call.blocks)
        , step(call.step)
        , rounds(call.rounds)
        , columns(call.columns)
        , offset(static_cast<acc_t<T>>(call.offset))
    {}
};
