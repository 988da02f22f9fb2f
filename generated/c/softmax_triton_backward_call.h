/* my_ops::softmax_triton_backward(Tensor grad_y, Tensor y) -> Tensor
 *
 * What the host function hands to the kernels of softmax_triton_backward.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_SOFTMAX_TRITON_BACKWARD_CALL_H
#define MY_OPS_SOFTMAX_TRITON_BACKWARD_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct softmax_triton_backward_call {
    const void *grad_y; /* T[*rows, n] */
    const void *y; /* T[*rows, n] */
    void *grad_x; /* T[*rows, n] */
    int64_t rows;
    int64_t n;
} softmax_triton_backward_call;

#endif
