/* my_ops::cross_entropy_backward(Tensor grad_loss, Tensor logits, Tensor target, Tensor lse, int ignore_index, float label_smoothing, float z_loss) -> Tensor
 *
 * What the host function hands to the kernels of cross_entropy_backward.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_CROSS_ENTROPY_BACKWARD_CALL_H
#define MY_OPS_CROSS_ENTROPY_BACKWARD_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cross_entropy_backward_call {
    const void *grad_loss; /* acc(T)[*rows] strided */
    const void *logits; /* T[*rows, n] */
    const void *target; /* int64[*rows] */
    const void *lse; /* acc(T)[*rows] */
    void *grad_logits; /* T[*rows, n] */
    int64_t grad_loss_dim;
    int64_t grad_loss_size[64];
    int64_t grad_loss_stride[64];
    int64_t rows;
    int64_t n;
    int64_t span;
    int64_t threads;
    int64_t chunks;
    int64_t ignore_index;
    double label_smoothing;
    double z_loss;
} cross_entropy_backward_call;

#endif
