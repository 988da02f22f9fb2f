/* my_ops::rms_norm(Tensor x, Tensor? weight=None, float eps=1e-06, float offset=0.0) -> Tensor
 *
 * What the host function hands to the kernels of rms_norm.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_RMS_NORM_CALL_H
#define MY_OPS_RMS_NORM_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct rms_norm_call {
    const void *x; /* T[*rows, n] */
    const void *weight; /* T[n]?, null when absent */
    void *y; /* T[*rows, n] */
    void *rstd; /* acc(T)[*rows] saved, null in inference */
    int64_t rows;
    int64_t n;
    int64_t span;
    int64_t lanes;
    int64_t short_block;
    int64_t cluster;
    int64_t slab;
    int64_t slab_rows;
    int64_t runs;
    double eps;
    double offset;
} rms_norm_call;

#endif
