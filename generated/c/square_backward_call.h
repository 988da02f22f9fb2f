/* my_ops::square_backward(Tensor grad_y, Tensor x) -> Tensor
 *
 * What the host function hands to the kernels of square_backward.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_SQUARE_BACKWARD_CALL_H
#define MY_OPS_SQUARE_BACKWARD_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct square_backward_call {
    const void *grad_y; /* T[*shape] */
    const void *x; /* T[*shape] */
    void *grad_x; /* T[*shape] */
    int64_t shape;
} square_backward_call;

#endif
