// my_ops::rope_backward(Tensor grad_q_out, Tensor grad_k_out, Tensor cos, Tensor sin, bool interleaved, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
//
// What the device functions of rope_backward see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "rope_backward_call.h"

template <typename T, typename C>
struct rope_backward_args {
    const T *grad_q_out;
    const T *grad_k_out;
    const C *cos;
    const C *sin;
    T *grad_q;
    T *grad_k;
    int64_t grad_q_out_stride[4];
    int64_t grad_k_out_stride[4];
    int64_t cos_stride[1];
    int64_t sin_stride[1];
    int64_t b;
    int64_t s;
    int64_t h;
    int64_t d;
    int64_t hk;
    int64_t cb;
    int64_t r;
    int64_t groups;
    bool interleaved;

    __device__ explicit rope_backward_args(const rope_backward_call &call)
        : grad_q_out(static_cast<const T *>(call.grad_q_out))
        , grad_k_out(static_cast<const T *>(call.grad_k_out))
        , cos(static_cast<const C *>(call.cos))
        , sin(static_cast<const C *>(call.sin))
        , grad_q(static_cast<T *>(call.grad_q))
        , grad_k(static_cast<T *>(call.grad_k))
        , grad_q_out_stride{call.grad_q_out_stride[0], call.grad_q_out_stride[1], call.grad_q_out_stride[2], call.grad_q_out_stride[3]}
        , grad_k_out_stride{call.grad_k_out_stride[0], call.grad_k_out_stride[1], call.grad_k_out_stride[2], call.grad_k_out_stride[3]}
        , cos_stride{call.cos_stride[0]}
        , sin_stride{call.sin_stride[0]}
        , b(call.b)
        , s(call.s)
        , h(call.h)
        , d(call.d)
        , hk(call.hk)
        , cb(call.cb)
        , r(call.r)
        , groups(call.groups)
        , interleaved(call.interleaved)
    {}
};
