/* my_ops::silu_mul(Tensor gate, Tensor up) -> Tensor
 *
 * What the host function hands to the kernels of silu_mul.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_SILU_MUL_CALL_H
#define MY_OPS_SILU_MUL_CALL_H

#include <stdbool.h>
#include <stdint.h>

#include "../../csrc/elementwise_layout.h"

typedef struct silu_mul_call {
    const void *gate; /* T[*shape] */
    const void *up; /* T[*shape] */
    void *y; /* T[*shape] */
    elementwise_layout layout__; /* what the loops run over */
    int64_t shape;
    int64_t stride__[3][ELEMENTWISE_DIMS]; /* of each operand */
} silu_mul_call;

#endif
