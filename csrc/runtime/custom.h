/* How a host function calls code of an operator's own that launches kernels. launch.h is what that code sees. */
#ifndef RUNTIME_CUSTOM_H
#define RUNTIME_CUSTOM_H

#include "cuda.h"
#include "launch.h"
#include "tensor.h"

/* Pieces of scratch memory that one call can ask for. */
enum { CUSTOM_SCRATCH = 16 };

typedef struct custom_state {
    error *e;
    const cuda_scope *scope;
    const void *frame; /* of the host function */
    device device;
    tensor scratch[CUSTOM_SCRATCH];
    int scratch_count;
    bool launched, empty; /* whether there was a launch, and one with an empty grid */
} custom_state;

typedef bool custom_function(const cuda_context *ctx, const void *call);

/* Calls `function` with the record of the call. *nothing, which may be null, is whether it launched, and only with
 * empty grids. */
bool custom_call(error *e, const cuda_scope *scope, device where, const void *frame, custom_function *function,
                 const void *call, bool *nothing);

/* Finds the value of a param among those that kernels are compiled for: *row becomes *row * count + its place. */
bool custom_param(const cuda_context *ctx, const char *kernel, const char *param, int64_t value, const int64_t *values,
                  int64_t count, int64_t *row);

/* Launches one kernel. */
bool custom_launch(const cuda_context *ctx, cuda_kernel *kernel, const cuda_launch *l, const void *call);

#endif
