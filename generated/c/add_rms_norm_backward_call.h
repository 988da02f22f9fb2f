/* my_ops::add_rms_norm_backward(Tensor grad_y, Tensor? grad_residual_out, Tensor residual_out, Tensor? weight, Tensor rstd, float offset, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
 *
 * What the host function hands to the kernels of add_rms_norm_backward.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_ADD_RMS_NORM_BACKWARD_CALL_H
#define MY_OPS_ADD_RMS_NORM_BACKWARD_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct add_rms_norm_backward_call {
    const void *grad_y; /* T[*rows, n] */
    const void *grad_residual_out; /* T[*rows, n]?, null when absent */
    const void *residual_out; /* T[*rows, n] */
    const void *weight; /* T[n]?, null when absent */
    const void *rstd; /* acc(T)[*rows] */
    void *grad_x; /* T[*rows, n], null when not wanted */
    void *grad_weight; /* T[n], null when not wanted */
    void *partial; /* acc(T)[blocks, columns] */
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
    double offset;
} add_rms_norm_backward_call;

#endif
