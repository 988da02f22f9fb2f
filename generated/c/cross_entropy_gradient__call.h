/* my_ops::cross_entropy_gradient_(Tensor(a!) logits, Tensor target, Tensor? grad_loss=None, int ignore_index=-100, float label_smoothing=0.0, float z_loss=0.0) -> Tensor
 *
 * What the host function hands to the kernels of cross_entropy_gradient_.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_CROSS_ENTROPY_GRADIENT__CALL_H
#define MY_OPS_CROSS_ENTROPY_GRADIENT__CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cross_entropy_gradient__call {
    void *logits; /* T[*rows, n]! */
    const void *target; /* int64[*rows] */
    const void *grad_loss; /* acc(T)[*rows]? expand, null when absent */
    void *loss; /* acc(T)[*rows] */
    int64_t grad_loss_dim;
    int64_t grad_loss_size[64];
    int64_t grad_loss_stride[64];
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
    double label_smoothing;
    double z_loss;
} cross_entropy_gradient__call;

#endif
