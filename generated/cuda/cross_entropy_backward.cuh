// my_ops::cross_entropy_backward(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, int ignore_index, float label_smoothing, float z_loss) -> Tensor
//
// What the device functions of cross_entropy_backward see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "cross_entropy_backward_call.h"

template <typename T>
struct cross_entropy_backward_args {
    const acc_t<T> *grad_loss;
    const T *logits;
    const int64_t *target;
    const acc_t<T> *lse;
    T *grad_logits;
    int64_t grad_loss_dim;
    const int64_t *grad_loss_size;
    const int64_t *grad_loss_stride;
    int64_t rows;
    int64_t n;
    int64_t span;
    int64_t threads;
    int64_t chunks;
    int64_t ignore_index;
    acc_t<T> label_smoothing;
    acc_t<T> z_loss;

    __device__ explicit cross_entropy_backward_args(const cross_entropy_backward_call &call)
        : grad_loss(static_cast<const acc_t<T> *>(call.grad_loss))
        , logits(static_cast<const T *>(call.logits))
        , target(static_cast<const int64_t *>(call.target))
        , lse(static_cast<const acc_t<T> *>(call.lse))
        , grad_logits(static_cast<T *>(call.grad_logits))
        , grad_loss_dim(call.grad_loss_dim)
        , grad_loss_size(call.grad_loss_size)
        , grad_loss_stride(call.grad_loss_stride)
        , rows(call.rows)
        , n(call.n)
        , span(call.span)
        , threads(call.threads)
        , chunks(call.chunks)
        , ignore_index(call.ignore_index)
        , label_smoothing(static_cast<acc_t<T>>(call.label_smoothing))
        , z_loss(static_cast<acc_t<T>>(call.z_loss))
    {}
};
