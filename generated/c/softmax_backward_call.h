/* my_ops::softmax_backward(Tensor grad_y, Tensor y, float scale, bool causal, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
 *
 * What the host function hands to the kernels of softmax_backward.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_SOFTMAX_BACKWARD_CALL_H
#define MY_OPS_SOFTMAX_BACKWARD_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct softmax_backward_call {
    const void *grad_y; /* T[*batch, m, n] */
    const void *y; /* T[*batch, m, n] */
    void *grad_x; /* T[*batch, m, n], null when not wanted */
    void *grad_bias; /* acc(T)[*batch, m, n], null when not wanted */
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
    double scale;
    bool causal;
} softmax_backward_call;

#endif
