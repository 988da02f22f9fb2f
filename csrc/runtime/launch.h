/* What host code of an operator's own is given that launches kernels: csrc/<op>.launch.c with `launch: custom` (C), and
 * csrc/<op>.cu with `full_cuda: true` (C++).
 *
 * It runs when everything has been checked and allocated, on the thread of the caller, with the device of the call
 * current. It queues its work on the stream, and neither waits for it nor changes the current device. */
#ifndef RUNTIME_LAUNCH_H
#define RUNTIME_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dtype.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct CUstream_st *CUstream; /* cudaStream_t is the same */

/* Where a call runs. */
typedef struct cuda_context {
    CUstream stream;            /* PyTorch's current one on this device */
    int64_t sm_count;           /* multiprocessors of the device */
    int64_t max_shared;         /* bytes of shared memory that one block may ask for */
    int64_t arch;               /* 90 for compute capability 9.0 */
    int32_t device;             /* its index */
    struct custom_state *state; /* of the runtime */
} cuda_context;

/* The shape of a launch. */
typedef struct cuda_launch {
    int64_t grid[3];    /* blocks; where one is 0, nothing is launched */
    int64_t block[3];   /* threads of a block */
    int64_t shared;     /* bytes of dynamic shared memory */
    int64_t cluster[3]; /* blocks of a cluster; 0 stands for 1 */
} cuda_launch;

/* The shape of a launch with one dimension. */
static inline cuda_launch cuda_shape(int64_t grid, int64_t block) {
    const cuda_launch launch = {{grid, 1, 1}, {block, 1, 1}, 0, {0, 0, 0}};
    return launch;
}

/* Memory of the device for this call, from PyTorch's allocator; it is given back when the function returns, to be used
 * again behind what is on the stream by then. Aligned to 16 bytes at least. Null after an error, which the call then
 * raises. */
void *cuda_scratch(const cuda_context *ctx, size_t bytes);

/* Makes the call raise this text, with the name of the operator in front; returns false. The first text is kept. */
__attribute__((format(printf, 2, 3))) bool cuda_error(const cuda_context *ctx, const char *format, ...);

/* For generated code, where the CUDA runtime reports an error, and where a build has left the code out. */
bool custom_failed(const cuda_context *ctx, int code, const char *name, const char *text);
bool custom_missing(const cuda_context *ctx);

#ifdef __cplusplus
}
#endif

#endif
