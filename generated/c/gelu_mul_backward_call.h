/* my_ops::gelu_mul_backward(Tensor grad_y, Tensor gate, Tensor up, str approximate, *, bool[2] grad_mask=[True, True]) -> (Tensor, Tensor)
 *
 * What the host function hands to the kernels of gelu_mul_backward.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_GELU_MUL_BACKWARD_CALL_H
#define MY_OPS_GELU_MUL_BACKWARD_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "../../csrc/elementwise_layout.h"

/* What approximate is, by its words. */
enum {
    gelu_mul_backward_approximate_none,
    gelu_mul_backward_approximate_tanh,
};

typedef struct gelu_mul_backward_call {
    const void *grad_y; /* T[*shape] */
    const void *gate; /* T[*shape] */
    const void *up; /* T[*shape] */
    void *grad_gate; /* T[*shape], null when not wanted */
    void *grad_up; /* T[*shape], null when not wanted */
    int32_t approximate; /* choice(none, tanh) */
    elementwise_layout layout__; /* what the loops run over */
    int64_t shape;
    int64_t stride__[5][ELEMENTWISE_DIMS]; /* of each operand */
} gelu_mul_backward_call;

#endif
