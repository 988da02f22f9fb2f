// my_ops::rope(Tensor q, Tensor k, Tensor cos, Tensor sin, bool interleaved=False) -> (Tensor, Tensor)
//
// What the device functions of rope see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "rope_call.h"

template <typename T, typename C>
struct rope_args {
    const T *q;
    const T *k;
    const C *cos;
    const C *sin;
    T *q_out;
    T *k_out;
    int64_t q_stride[4];
    int64_t k_stride[4];
    int64_t cos_stride[1];
    int64_t sin_stride[1];
    int64_t q_out_stride[4];
    int64_t k_out_stride[4];
    int64_t b;
    int64_t s;
    int64_t h;
    int64_t d;
    int64_t hk;
    int64_t cb;
    int64_t r;
    int64_t groups;
    bool interleaved;

    __device__ explicit rope_args(const rope_call &call)
        : q(static_cast<const T *>(call.q))
        , k(static_cast<const T *>(call.k))
        , cos(static_cast<const C *>(call.cos))
        , sin(static_cast<const C *>(call.sin))
        , q_out(static_cast<T *>(call.q_out))
        , k_out(static_cast<T *>(call.k_out))
        , q_stride{call.q_stride[0], call.q_stride[1], call.q_stride[2], call.q_stride[3]}
        , k_stride{call.k_stride[0], call.k_stride[1], call.k_stride[2], call.k_stride[3]}
        , cos_stride{call.cos_stride[0]}
        , sin_stride{call.sin_stride[0]}
        , q_out_stride{call.q_out_stride[0], call.q_out_stride[1], call.q_out_stride[2], call.q_out_stride[3]}
        , k_out_stride{call.k_out_stride[0], call.k_out_stride[1], call.k_out_stride[2], call.k_out_stride[3]}
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
