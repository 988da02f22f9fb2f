/* my_ops::rope_backward(Tensor grad_q_out, Tensor grad_k_out, Tensor cos, Tensor sin, bool interleaved, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
 *
 * What the host function hands to the kernels of rope_backward.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_ROPE_BACKWARD_CALL_H
#define MY_OPS_ROPE_BACKWARD_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rope_backward_call {
    const void *grad_q_out; /* T[b, s, h, d] inner */
    const void *grad_k_out; /* T[b, s, hk, d] inner */
    const void *cos; /* C[*cb, s, r] rows no_grad */
    const void *sin; /* C[*cb, s, r] rows no_grad */
    void *grad_q; /* T[b, s, h, d], null when not wanted */
    void *grad_k; /* T[b, s, hk, d], null when not wanted */
    int64_t grad_q_out_stride[4];
    int64_t grad_k_out_stride[4];
    int64_t cos_stride[1]; /* from one row of cos to the next */
    int64_t sin_stride[1]; /* from one row of sin to the next */
    int64_t b;
    int64_t s;
    int64_t h;
    int64_t d;
    int64_t hk;
    int64_t cb;
    int64_t r;
    int64_t groups;
    bool interleaved;
} rope_backward_call;

#endif
