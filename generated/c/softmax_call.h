/* my_ops::softmax(Tensor x, Tensor? bias=None, float scale=1.0, bool causal=False) -> Tensor
 *
 * What the host function hands to the kernels of softmax.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_SOFTMAX_CALL_H
#define MY_OPS_SOFTMAX_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct softmax_call {
    const void *x; /* T[*batch, m, n] */
    const void *bias; /* T[*batch, m, n]? inner expand, null when absent */
    void *y; /* T[*batch, m, n] */
    int64_t bias_dim;
    int64_t bias_size[64];
    int64_t bias_stride[64];
    int64_t batch;
    int64_t m;
    int64_t n;
    int64_t rows;
    int64_t span;
    int64_t lanes;
    int64_t short_block;
    int64_t stage_lanes;
    int64_t cluster;
    int64_t spread;
    int64_t slab;
    int64_t slab_rows;
    int64_t runs;
    double scale;
    bool causal;
} softmax_call;

#endif
