/* my_ops::rope(Tensor q, Tensor k, Tensor cos, Tensor sin, bool interleaved=False) -> (Tensor, Tensor)
 *
 * What the host function hands to the kernels of rope.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_ROPE_CALL_H
#define MY_OPS_ROPE_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rope_call {
    const void *q; /* T[b, s, h, d] inner */
    const void *k; /* T[b, s, hk, d] inner */
    const void *cos; /* C[*cb, s, r] rows no_grad */
    const void *sin; /* C[*cb, s, r] rows no_grad */
    void *q_out; /* T[b, s, h, d] like(q) */
    void *k_out; /* T[b, s, hk, d] like(k) */
    int64_t q_stride[4];
    int64_t k_stride[4];
    int64_t cos_stride[1]; /* from one row of cos to the next */
    int64_t sin_stride[1]; /* from one row of sin to the next */
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
} rope_call;

#endif
