/* my_ops::square(Tensor x) -> Tensor
 *
 * What the host function hands to the kernels of square.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_SQUARE_CALL_H
#define MY_OPS_SQUARE_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct square_call {
    const void *x; /* T[*shape] */
    void *y; /* T[*shape] */
    int64_t shape;
} square_call;

#endif
