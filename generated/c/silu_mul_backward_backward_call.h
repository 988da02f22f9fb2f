/* my_ops::silu_mul_backward_backward(Tensor grad_grad_gate, Tensor grad_grad_up, Tensor grad_y, Tensor gate, Tensor up, *, bool[3] grad_mask=[True, True, True]) -> (Tensor, Tensor, Tensor)
 *
 * What the host function hands to the kernels of silu_mul_backward_backward.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_SILU_MUL_BACKWARD_BACKWARD_CALL_H
#define MY_OPS_SILU_MUL_BACKWARD_BACKWARD_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "../../csrc/elementwise_layout.h"

typedef struct silu_mul_backward_backward_call {
    const void *grad_grad_gate; /* T[*shape] */
    const void *grad_grad_up; /* T[*shape] */
    const void *grad_y; /* T[*shape] */
    const void *gate; /* T[*shape] */
    const void *up; /* T[*shape] */
    void *grad_grad_y; /* T[*shape], null when not wanted */
    void *grad_gate; /* T[*shape], null when not wanted */
    void *grad_up; /* T[*shape], null when not wanted */
    elementwise_layout layout__; /* what the loops run over */
    int64_t shape;
    int64_t stride__[8][ELEMENTWISE_DIMS]; /* of each operand */
} silu_mul_backward_backward_call;

#endif
