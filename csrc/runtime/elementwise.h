/* The host side of element-wise operators: the strides of outputs, and the iteration space of a call.
 *
 * Operands are the tensors that a line of `elementwise:` reads or writes, inputs first. They broadcast as in NumPy, and
 * nothing is copied: whatever the strides are, they become strides of the iteration space. */
#ifndef RUNTIME_ELEMENTWISE_H
#define RUNTIME_ELEMENTWISE_H

#include "../elementwise_layout.h"
#include "cpu.h"
#include "cuda.h"
#include "tensor.h"

enum { ELEMENTWISE_OPERANDS = 64 };

/* `data` is the address of the operand's pointer in the call record, whose type is `void *` or `const void *`. */
typedef struct elementwise_operand {
    const tensor *t; /* without a handle: absent, and skipped */
    void *data;
} elementwise_operand;

/* A whole iteration space, of which kernels see the ELEMENTWISE_DIMS innermost dims at a time. */
typedef struct elementwise_space {
    int count;
    int dims;
    elementwise_operand operands[ELEMENTWISE_OPERANDS];
    int64_t size[MAX_DIMS];
    int64_t stride[ELEMENTWISE_OPERANDS][MAX_DIMS]; /* in elements */
    int64_t index[MAX_DIMS];                        /* of the part at hand, in the dims that kernels do not see */
} elementwise_space;

/* Makes an output like the first of `like` that has these sizes; contiguous where none has. */
bool elementwise_empty(error *e, tensor *t, const char *name, const shape *s, dtype d, const tensor *const *like,
                       int count);

/* Works out the space of a call: `s` are its sizes, the operands from `outputs` on are written. Fills `layout` and
 * `stride`, one row per operand, for its first part. */
void elementwise_begin(elementwise_space *space, const shape *s, const elementwise_operand *operands, int count,
                       int outputs, elementwise_layout *layout, int64_t (*stride)[ELEMENTWISE_DIMS]);

/* Moves the data pointers of the operands to the next part; false when there is none. */
bool elementwise_next(elementwise_space *space);

/* How many units a CPU kernel runs on: elements where there is one dim, tiles otherwise. */
int64_t elementwise_units(const elementwise_layout *layout);

/* CUDA kernels of an element-wise operator, in this order. */
enum {
    ELEMENTWISE_FLAT,    /* one dim, vectors of 16 bytes */
    ELEMENTWISE_VECTORS, /* the innermost dim in vectors of 16 bytes */
    ELEMENTWISE_CROSSED, /* vectors of 16 bytes across the innermost dim */
    ELEMENTWISE_NARROW,  /* any strides, 32-bit offsets */
    ELEMENTWISE_WIDE,    /* any strides, 64-bit offsets */
    ELEMENTWISE_KERNELS
};

/* Chooses the kernel for the part at hand, lays the part out for it, and fills its launch. `vector` is how many
 * elements fill 16 bytes in the largest dtype. */
int elementwise_launch(const elementwise_space *space, elementwise_layout *layout, int64_t (*stride)[ELEMENTWISE_DIMS],
                       int64_t vector, cuda_launch *launch);

#endif
