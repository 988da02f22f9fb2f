/* my_ops::global_norm(Tensor[] xs) -> Tensor
 *
 * What the host function hands to the kernels of global_norm.
 * Host C, CPU unit and CUDA unit read this one record, so that they cannot disagree. Tensors are contiguous but for
 * those whose strides stand here too; strides are in elements. Pointers are null for what is absent. Kernels own
 * nothing of it. */
#ifndef MY_OPS_GLOBAL_NORM_CALL_H
#define MY_OPS_GLOBAL_NORM_CALL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct global_norm_call {
    void **xs; /* T[*s][] */
    int64_t xs_count;
    void *norm; /* acc(T)[] */
    void *partial; /* acc(T)[parts] */
    int64_t partial_size[1];
    int64_t *s; /* of each of xs */
    int64_t total;
    int64_t parts;
} global_norm_call;

#endif
