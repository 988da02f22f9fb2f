/* The driver, which is loaded when it is first needed, and what a call knows of its device. dlfcn.h hides RTLD_NOLOAD
 * from strict C11. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "cuda_internal.h"
#include "torch_abi.h"

typedef struct cuda_device {
    atomic_bool ready;
    CUcontext context; /* the primary one, which PyTorch uses */
    CUdevice device;
    int sm_count, max_shared, arch;
} cuda_device;

cuda_driver libcuda;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool driver_ready;
static aoti_torch_get_current_cuda_stream_fn *aoti_torch_get_current_cuda_stream;
static cuda_device devices[CUDA_MAX_DEVICES];

bool cuda_failed(error *e, const char *what, CUresult result) {
    const char *name = "unknown error";
    const char *text = "";
    if (libcuda.cuGetErrorName(result, &name) != CUDA_SUCCESS) {
        name = "unknown error";
    }
    if (libcuda.cuGetErrorString(result, &text) != CUDA_SUCCESS) {
        text = "";
    }
    return fail(e, "%s: CUDA error %d, %s: %s", what, result, name, text);
}

static bool load_driver(error *e) {
    static const struct {
        const char *name;
        size_t offset;
    } functions[] = {
        {"cuGetErrorName", offsetof(cuda_driver, cuGetErrorName)},
        {"cuGetErrorString", offsetof(cuda_driver, cuGetErrorString)},
        {"cuDriverGetVersion", offsetof(cuda_driver, cuDriverGetVersion)},
        {"cuDeviceGet", offsetof(cuda_driver, cuDeviceGet)},
        {"cuDeviceGetAttribute", offsetof(cuda_driver, cuDeviceGetAttribute)},
        {"cuDevicePrimaryCtxRetain", offsetof(cuda_driver, cuDevicePrimaryCtxRetain)},
        {"cuCtxGetCurrent", offsetof(cuda_driver, cuCtxGetCurrent)},
        {"cuCtxPushCurrent_v2", offsetof(cuda_driver, cuCtxPushCurrent_v2)},
        {"cuCtxPopCurrent_v2", offsetof(cuda_driver, cuCtxPopCurrent_v2)},
        {"cuLibraryLoadData", offsetof(cuda_driver, cuLibraryLoadData)},
        {"cuLibraryGetKernel", offsetof(cuda_driver, cuLibraryGetKernel)},
        {"cuKernelGetAttribute", offsetof(cuda_driver, cuKernelGetAttribute)},
        {"cuKernelSetAttribute", offsetof(cuda_driver, cuKernelSetAttribute)},
        {"cuLaunchKernelEx", offsetof(cuda_driver, cuLaunchKernelEx)},
        {"cuMemsetD8Async", offsetof(cuda_driver, cuMemsetD8Async)},
        {"cuMemsetD16Async", offsetof(cuda_driver, cuMemsetD16Async)},
        {"cuMemsetD32Async", offsetof(cuda_driver, cuMemsetD32Async)},
        {"cuMemcpyDtoHAsync_v2", offsetof(cuda_driver, cuMemcpyDtoHAsync_v2)},
        {"cuPointerGetAttribute", offsetof(cuda_driver, cuPointerGetAttribute)},
        {"cuStreamSynchronize", offsetof(cuda_driver, cuStreamSynchronize)},
        {"cuStreamIsCapturing", offsetof(cuda_driver, cuStreamIsCapturing)},
        {"cuMemsetD2D32Async", offsetof(cuda_driver, cuMemsetD2D32Async)},
    };
    void *const cuda = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(e, cuda != NULL, "no CUDA driver: libcuda.so.1 cannot be loaded; install NVIDIA's driver");
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        void *const symbol = dlsym(cuda, functions[i].name);
        CHECK(e, symbol != NULL, "the CUDA driver is too old: it has no %s; a driver for CUDA 12.0 or newer is needed",
              functions[i].name);
        memcpy((char *)&libcuda + functions[i].offset, &symbol, sizeof symbol);
    }
    /* Only where PyTorch has loaded it itself: this library never brings a second one into the process. */
    void *const torch_cuda = dlopen("libtorch_cuda.so", RTLD_NOW | RTLD_NOLOAD);
    CHECK(e, torch_cuda != NULL, "this PyTorch has no CUDA: libtorch_cuda.so is not loaded");
    void *const stream = dlsym(torch_cuda, "aoti_torch_get_current_cuda_stream");
    CHECK(e, stream != NULL, "this PyTorch is too old: it has no aoti_torch_get_current_cuda_stream; 2.10 is needed");
    memcpy(&aoti_torch_get_current_cuda_stream, &stream, sizeof stream);
    return true;
}

static bool load_device(error *e, int32_t index) {
    cuda_device *const d = &devices[index];
    int major, minor;
    CHECK_CUDA(e, "cuDeviceGet", libcuda.cuDeviceGet(&d->device, index));
    CHECK_CUDA(e, "cuDeviceGetAttribute",
               libcuda.cuDeviceGetAttribute(&d->sm_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d->device));
    CHECK_CUDA(
        e, "cuDeviceGetAttribute",
        libcuda.cuDeviceGetAttribute(&d->max_shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, d->device));
    CHECK_CUDA(e, "cuDeviceGetAttribute",
               libcuda.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d->device));
    CHECK_CUDA(e, "cuDeviceGetAttribute",
               libcuda.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d->device));
    d->arch = 10 * major + minor;
    CHECK_CUDA(e, "cuDevicePrimaryCtxRetain", libcuda.cuDevicePrimaryCtxRetain(&d->context, d->device));
    return true;
}

/* Runs `load` once, under the lock, and remembers in `ready` that it succeeded; a failure is tried anew next time. */
static bool once(error *e, atomic_bool *ready, bool (*load)(error *e, int32_t index), int32_t index) {
    if (atomic_load_explicit(ready, memory_order_acquire)) {
        return true;
    }
    pthread_mutex_lock(&lock);
    bool ok = atomic_load_explicit(ready, memory_order_relaxed);
    if (!ok) {
        ok = load(e, index);
        atomic_store_explicit(ready, ok, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    return ok;
}

static bool load_driver_once(error *e, int32_t index) {
    (void)index;
    return load_driver(e);
}

static bool load_once(error *e, int32_t device_index) {
    CHECK(e, device_index >= 0 && device_index < CUDA_MAX_DEVICES, "expected a CUDA device below %d, got %" PRId32,
          CUDA_MAX_DEVICES, device_index);
    return once(e, &driver_ready, load_driver_once, 0) &&
           once(e, &devices[device_index].ready, load_device, device_index);
}

bool cuda_require_arch(error *e, int32_t device_index, int64_t arch) {
    if (!load_once(e, device_index)) {
        return false;
    }
    CHECK(e, devices[device_index].arch >= arch, "expected arch >= %" PRId64 ", got arch = %d", arch,
          devices[device_index].arch);
    return true;
}

bool cuda_enter(error *e, int32_t device_index, cuda_scope *scope) {
    if (!load_once(e, device_index)) {
        return false;
    }
    const cuda_device *const d = &devices[device_index];
    void *stream;
    CHECK_ABI(e, aoti_torch_get_current_cuda_stream, device_index, &stream);
    *scope = (cuda_scope){.device_index = device_index,
                          .device = d->device,
                          .stream = stream,
                          .sm_count = d->sm_count,
                          .max_shared = d->max_shared,
                          .arch = d->arch};
    CUcontext current;
    CHECK_CUDA(e, "cuCtxGetCurrent", libcuda.cuCtxGetCurrent(&current));
    if (current != d->context) {
        CHECK_CUDA(e, "cuCtxPushCurrent", libcuda.cuCtxPushCurrent_v2(d->context));
        scope->pushed = true;
    }
    return true;
}

void cuda_leave(error *e, cuda_scope *scope) {
    CUcontext popped;
    if (scope->pushed) {
        const CUresult result = libcuda.cuCtxPopCurrent_v2(&popped);
        if (result != CUDA_SUCCESS) {
            cuda_failed(e, "cuCtxPopCurrent", result);
        }
    }
}
