/* Kernels that Triton compiled when the library was built: of each of them the images for several architectures, of
 * which a launch takes the one that fits its GPU. Tables of them are written by cmake/triton_compile.py. */
#ifndef RUNTIME_TRITON_H
#define RUNTIME_TRITON_H

#include "cuda.h"
#include "tensor.h"

/* Triton appends parameters to those of a kernel: memory on the GPU for its blocks, and for its profiler. */
enum { TRITON_APPENDED = 2 };

/* A kernel, compiled for one architecture. */
typedef struct triton_image {
    cuda_kernel kernel;
    int64_t arch;    /* 90 for compute capability 9.0 */
    bool exact;      /* for no other one, not even of the same major version */
    bool ptx;        /* a text that drivers compile, for this architecture and for whatever is newer */
    int64_t threads; /* of a block */
    int64_t shared;  /* bytes of dynamic shared memory */
    int64_t scratch; /* bytes of memory on the GPU for each block */
} triton_image;

/* The kernels of an operator. Those that no call can ask for have images without an architecture. */
typedef struct triton_kernels {
    triton_image *images; /* `count` of the first kernel, and so on; null where the library was built without Triton */
    int64_t count;
} triton_kernels;

/* Launches the kernel in place `row` with blocks of the size that it was compiled for. `parameters` says where each of
 * its parameters lies, and has TRITON_APPENDED more places, from `appended` on. Memory comes from `where`, the device
 * of the scope. The grid is not empty. */
bool triton_launch(error *e, const cuda_scope *scope, device where, const triton_kernels *kernels, int64_t row,
                   const int64_t grid[3], void **parameters, int appended);

#endif
