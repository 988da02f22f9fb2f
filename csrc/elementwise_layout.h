/* The iteration space of an element-wise operator, as its host function hands it to kernels. Host C, CPU units and CUDA
 * units read this one record; a table of strides, one row per operand and in elements, stands beside it.
 *
 * Dims are innermost first. Sizes of 1 are gone and dims that lie behind one another in every operand are merged, so
 * that contiguous tensors of any shape have one dim. An operand that is broadcast along a dim has stride 0 there. */
#ifndef CSRC_ELEMENTWISE_LAYOUT_H
#define CSRC_ELEMENTWISE_LAYOUT_H

#include <stdint.h>

enum { ELEMENTWISE_DIMS = 8 };

/* CUDA: threads of a block, and how many vectors or single elements each of them has. */
enum { ELEMENTWISE_THREADS = 128, ELEMENTWISE_UNROLL = 1, ELEMENTWISE_SINGLES = 4 };

/* CPU: how a tile, the work of one unit, is gone through. */
enum {
    ELEMENTWISE_ROWS,        /* row by row */
    ELEMENTWISE_TURNED_ROWS, /* the same, after operands that run across the rows were copied, turned, to a buffer */
    ELEMENTWISE_PACKED       /* as one row: written tensors are contiguous over both dims, and what is not is copied */
};

/* The longest row of a turned tile, and what a buffer of one operand holds, in bytes. Turned tiles are as high as they
 * can be: each row of one operand that they touch, and each column of another, may be a page of its own. A thread has
 * one buffer for each operand that is only read, of 256 KiB together at most: they are on its stack. */
enum { ELEMENTWISE_TURNED = 128 };
#define ELEMENTWISE_BUFFER(operands)                                                                                   \
    ((operands) <= 8 ? 32768 : (operands) <= 16 ? 16384 : (operands) <= 32 ? 8192 : 4096)

typedef struct elementwise_layout {
    int64_t elements;                 /* product of the sizes; vectors where these are folded */
    int32_t unit;                     /* every operand has stride 1 in the innermost dim */
    int32_t dims;                     /* at least 1 */
    int32_t order;                    /* CPU: one of the above */
    int32_t folded;                   /* CUDA: dim 1 counts vectors of so many elements; 0 where it counts elements */
    int64_t size[ELEMENTWISE_DIMS];   /* 1 from `dims` on */
    int64_t tile[2];                  /* CPU: how many elements of the two innermost dims a tile has */
    uint32_t magic[ELEMENTWISE_DIMS]; /* CUDA: division of numbers below 2^31 by size[i] is a product and a shift */
    uint32_t shift[ELEMENTWISE_DIMS];
} elementwise_layout;

#endif
