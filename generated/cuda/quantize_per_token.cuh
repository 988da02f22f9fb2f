// my_ops::quantize_per_token(Tensor x, *, ScalarType dtype=int8) -> (Tensor, Tensor)
//
// What the device functions of quantize_per_token see.
// These are the fields of the call record under the types of one choice of dtypes.
#pragma once

#include "dtype.cuh"
#include "float8.cuh"
#include "quantize_per_token_call.h"

template <typename T, typename Q>
struct quantize_per_token_args {
    const T *x;
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

    __device__ explicit quantize_per_token_args(const quantize_per_token_call &call)
        : x(static_cast<const T *>(call.x))
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
    {}
};
