/* my_ops::gather_rows(Tensor table, Tensor index) -> Tensor
 *
 * What the host function hands to the kernels of gather_rows.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_GATHER_ROWS_CALL_H
#define MY_OPS_GATHER_ROWS_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct gather_rows_call {
    const void *table; /* T[m, n] */
    const void *index; /* I[k] */
    void *y; /* T[k, n] */
    int64_t m;
    int64_t n;
    int64_t k;
} gather_rows_call;

#endif
