/* Devices, launches and memory on the CUDA driver API: cuda_device.c, cuda_launch.c and cuda_memory.c.
 *
 * Nothing of these runs before the first CUDA call of an operator: loading the library leaves the process free to fork.
 * The device code of an operator lies inside the library as a few fatbins, each loaded when it is first needed; CUDA's
 * libraries and kernels belong to no context, so one handle serves every GPU. */
#ifndef RUNTIME_CUDA_H
#define RUNTIME_CUDA_H

#include <stdatomic.h>

#include "cuda_driver.h"
#include "error.h"
#include "launch.h"

enum { CUDA_MAX_DEVICES = 64, CUDA_ARGUMENT_BYTES = 4096 /* of a launch, at most */ };

/* One fatbin of an operator: one unit of its .cu. Its first byte is 0 when it was built for no architecture. */
typedef struct cuda_module {
    const unsigned char *image;
    CUlibrary _Atomic library;
} cuda_module;

typedef struct cuda_kernel {
    const char *name;
    cuda_module *module;
    CUkernel _Atomic handle;
    _Atomic uint64_t shared_allowed; /* bit i: device i has been told how much shared memory may be asked for */
} cuda_kernel;

/* What one launch needs to know of its device; the numbers have the types of the expression language. */
typedef struct cuda_scope {
    int32_t device_index;
    CUdevice device;
    CUstream stream; /* PyTorch's current one on this device */
    int64_t sm_count;
    int64_t max_shared; /* bytes of shared memory that one block may ask for */
    int64_t arch;       /* 90 for compute capability 9.0 */
    bool pushed;
} cuda_scope;

/* One pass of a call. Without a kernel it is skipped. */
typedef struct cuda_plan {
    cuda_kernel *kernel;
    cuda_launch launch;
} cuda_plan;

/* Makes the device current for this thread, leaving CUDA's current device to be restored by cuda_leave. To be called
 * on every path after a cuda_enter that returned true, and only then. */
bool cuda_enter(error *e, int32_t device_index, cuda_scope *scope);
void cuda_leave(error *e, cuda_scope *scope);

/* An error when the device is older than `arch`. */
bool cuda_require_arch(error *e, int32_t device_index, int64_t arch);

/* Whether a pass that is not skipped has an empty grid. */
bool cuda_any_empty(const cuda_plan *plans, int count);

/* Launches the passes in order, each with the call record as its one parameter; an empty grid launches nothing. */
bool cuda_run(error *e, const cuda_scope *scope, const cuda_plan *plans, int count, const void *call);

/* Launches one kernel. *empty: its grid is, and nothing was launched. */
bool cuda_launch_one(error *e, const cuda_scope *scope, cuda_kernel *kernel, const cuda_launch *l, const void *call,
                     bool *empty);

/* The same of a kernel with parameters of its own: where each of them lies. The driver reads them before it returns. */
bool cuda_launch_with(error *e, const cuda_scope *scope, cuda_kernel *kernel, const cuda_launch *l, void **parameters,
                      bool *empty);

/* Whether nothing is launched. */
bool cuda_is_empty(const cuda_launch *l);

/* Finds the value of a param among those that kernels are compiled for: *row becomes *row * count + its place. */
bool cuda_param(error *e, const char *kernel, const char *param, int64_t value, const int64_t *values, int64_t count,
                int64_t *row);

/* An error when the library was built without CUDA. */
bool cuda_check_built(error *e, const cuda_scope *scope);

/* Says that this library holds no code for the device, or none that its driver accepts. `result` is what the driver
 * said, or the CUDA runtime. */
bool cuda_no_image(error *e, const cuda_scope *scope, int result);

/* Fills `bytes` bytes of memory of this device with zeros, in the order of its current stream. */
bool cuda_zero(error *e, int32_t device_index, void *data, int64_t bytes);

/* Fills `bytes` bytes with copies of one element of `size` bytes: 1, 2, 4, 8 or 16, of which `bytes` is a multiple. */
bool cuda_fill(error *e, int32_t device_index, void *data, const void *element, int64_t size, int64_t bytes);

/* An error unless the data of the argument `name`, which is on the host, can be read by kernels: it is pinned, and no
 * copy that goes when the call ends. For a device that is current. */
bool cuda_require_pinned(error *e, const char *name, const void *data);

/* Whether the stream is being captured into a graph. */
bool cuda_is_capturing(error *e, const cuda_scope *scope, bool *capturing);

/* Copies in the order of the stream, to be read after cuda_synchronize, which waits for all that is on it. */
bool cuda_copy_to_host(error *e, const cuda_scope *scope, void *to, const void *from, int64_t bytes);
bool cuda_synchronize(error *e, const cuda_scope *scope);

#endif
