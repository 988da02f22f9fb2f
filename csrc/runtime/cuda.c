/* dlfcn.h hides RTLD_NOLOAD from strict C11. */
#define _GNU_SOURCE
#include "cuda.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "torch_abi.h"

/* Set by the build: the architectures that the fatbins hold, for the text of an error. */
#ifdef CUDA_ARCHITECTURES
enum { BUILT_WITH_CUDA = true };
#else
#define CUDA_ARCHITECTURES "none"
enum { BUILT_WITH_CUDA = false };
#endif

typedef struct cuda_device {
    atomic_bool ready;
    CUcontext context; /* the primary one, which PyTorch uses */
    CUdevice device;
    int sm_count, max_shared, arch;
} cuda_device;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool driver_ready;
static cuda_driver driver;
static aoti_torch_get_current_cuda_stream_fn *aoti_torch_get_current_cuda_stream;
static cuda_device devices[CUDA_MAX_DEVICES];

static bool fail_cuda(error *e, const char *what, CUresult result) {
    const char *name = "unknown error";
    const char *text = "";
    if (driver.cuGetErrorName(result, &name) != CUDA_SUCCESS) {
        name = "unknown error";
    }
    if (driver.cuGetErrorString(result, &text) != CUDA_SUCCESS) {
        text = "";
    }
    return fail(e, "%s: CUDA error %d, %s: %s", what, result, name, text);
}

#define CHECK_CUDA(e, what, result)                                                                                    \
    do {                                                                                                               \
        const CUresult check_result = (result);                                                                        \
        if (check_result != CUDA_SUCCESS) {                                                                            \
            return fail_cuda((e), (what), check_result);                                                               \
        }                                                                                                              \
    } while (0)

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
        memcpy((char *)&driver + functions[i].offset, &symbol, sizeof symbol);
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
    CHECK_CUDA(e, "cuDeviceGet", driver.cuDeviceGet(&d->device, index));
    CHECK_CUDA(e, "cuDeviceGetAttribute",
               driver.cuDeviceGetAttribute(&d->sm_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, d->device));
    CHECK_CUDA(
        e, "cuDeviceGetAttribute",
        driver.cuDeviceGetAttribute(&d->max_shared, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, d->device));
    CHECK_CUDA(e, "cuDeviceGetAttribute",
               driver.cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, d->device));
    CHECK_CUDA(e, "cuDeviceGetAttribute",
               driver.cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, d->device));
    d->arch = 10 * major + minor;
    CHECK_CUDA(e, "cuDevicePrimaryCtxRetain", driver.cuDevicePrimaryCtxRetain(&d->context, d->device));
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
                          .stream = stream,
                          .sm_count = d->sm_count,
                          .max_shared = d->max_shared,
                          .arch = d->arch};
    CUcontext current;
    CHECK_CUDA(e, "cuCtxGetCurrent", driver.cuCtxGetCurrent(&current));
    if (current != d->context) {
        CHECK_CUDA(e, "cuCtxPushCurrent", driver.cuCtxPushCurrent_v2(d->context));
        scope->pushed = true;
    }
    return true;
}

void cuda_leave(error *e, cuda_scope *scope) {
    CUcontext popped;
    if (scope->pushed) {
        const CUresult result = driver.cuCtxPopCurrent_v2(&popped);
        if (result != CUDA_SUCCESS) {
            fail_cuda(e, "cuCtxPopCurrent", result);
        }
    }
}

bool cuda_no_image(error *e, const cuda_scope *scope) {
    CHECK(e, BUILT_WITH_CUDA,
          "this library was built without CUDA, and got a tensor on cuda:%" PRId32
          "; install nvcc and build it again (MY_OPS_CUDA=ON makes a build without nvcc an error)",
          scope->device_index);
    return fail(e,
                "no kernel image for cuda:%" PRId32 " of compute capability %" PRId64 ".%" PRId64
                ": this library was built for " CUDA_ARCHITECTURES
                "; build it again with TORCH_CUDA_ARCH_LIST=\"%" PRId64 ".%" PRId64 "\"",
                scope->device_index, scope->arch / 10, scope->arch % 10, scope->arch / 10, scope->arch % 10);
}

/* Under the lock. */
static bool load_kernel(error *e, const cuda_scope *scope, cuda_kernel *kernel) {
    cuda_module *const module = kernel->module;
    CUlibrary library = atomic_load_explicit(&module->library, memory_order_relaxed);
    CUresult result = BUILT_WITH_CUDA && module->image[0] != 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_BINARY_FOR_GPU;
    if (result == CUDA_SUCCESS && library == NULL) {
        result = driver.cuLibraryLoadData(&library, module->image, NULL, NULL, 0, NULL, NULL, 0);
    }
    CUkernel handle = NULL;
    if (result == CUDA_SUCCESS) {
        atomic_store_explicit(&module->library, library, memory_order_relaxed);
        result = driver.cuLibraryGetKernel(&handle, library, kernel->name);
    }
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
        return cuda_no_image(e, scope);
    }
    CHECK_CUDA(e, kernel->name, result);
    atomic_store_explicit(&kernel->handle, handle, memory_order_release);
    return true;
}

static bool get_kernel(error *e, const cuda_scope *scope, cuda_kernel *kernel, CUkernel *handle) {
    *handle = atomic_load_explicit(&kernel->handle, memory_order_acquire);
    if (*handle != NULL) {
        return true;
    }
    pthread_mutex_lock(&lock);
    const bool ok = load_kernel(e, scope, kernel);
    pthread_mutex_unlock(&lock);
    *handle = atomic_load_explicit(&kernel->handle, memory_order_acquire);
    return ok;
}

/* More than 48 KiB of shared memory, the kernel's own static part included, must be allowed for: once per kernel and
 * device, for all that the static part leaves. */
static bool allow_shared(error *e, const cuda_scope *scope, cuda_kernel *kernel, CUkernel handle) {
    const uint64_t bit = UINT64_C(1) << scope->device_index;
    if ((atomic_load_explicit(&kernel->shared_allowed, memory_order_acquire) & bit) == 0) {
        const CUdevice device = devices[scope->device_index].device;
        int own;
        CHECK_CUDA(e, kernel->name,
                   driver.cuKernelGetAttribute(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, handle, device));
        CHECK_CUDA(e, kernel->name,
                   driver.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                               (int)scope->max_shared - own, handle, device));
        atomic_fetch_or_explicit(&kernel->shared_allowed, bit, memory_order_release);
    }
    return true;
}

enum { GRAPHS_WITH_EARLY_KERNELS = 12030 }; /* CUDA 12.3: the first driver that captures them */

/* Whether the kernel may begin while the one before it ends, by programmatic dependent launch: it waits then by itself,
 * as csrc/device/launch_order.cuh says, where its code was compiled for compute capability 9.0 or newer. Asked once per
 * kernel and device. */
static bool may_begin_early(error *e, const cuda_scope *scope, cuda_kernel *kernel, CUkernel handle, bool *may) {
    const uint64_t bit = UINT64_C(1) << scope->device_index;
    if ((atomic_load_explicit(&kernel->asked, memory_order_acquire) & bit) == 0) {
        int version, architecture;
        CHECK_CUDA(e, "cuDriverGetVersion", driver.cuDriverGetVersion(&version));
        CHECK_CUDA(e, kernel->name,
                   driver.cuKernelGetAttribute(&architecture, CU_FUNC_ATTRIBUTE_PTX_VERSION, handle,
                                               devices[scope->device_index].device));
        if (version >= GRAPHS_WITH_EARLY_KERNELS && architecture >= 90) {
            atomic_fetch_or_explicit(&kernel->waits, bit, memory_order_relaxed);
        }
        atomic_fetch_or_explicit(&kernel->asked, bit, memory_order_release);
    }
    *may = (atomic_load_explicit(&kernel->waits, memory_order_relaxed) & bit) != 0;
    return true;
}

static bool is_empty(const cuda_launch *l) { return l->grid[0] == 0 || l->grid[1] == 0 || l->grid[2] == 0; }

static bool check_launch(error *e, const cuda_scope *scope, const cuda_kernel *kernel, const cuda_launch *l) {
    static const int64_t max_grid[3] = {INT32_MAX, 65535, 65535};
    static const int64_t max_block[3] = {1024, 1024, 64};
    for (int i = 0; i < 3; i++) {
        CHECK(e, is_empty(l) || (l->grid[i] >= 1 && l->grid[i] <= max_grid[i]),
              "%s: expected 1 <= grid.%c <= %" PRId64 ", got %" PRId64, kernel->name, 'x' + i, max_grid[i], l->grid[i]);
        CHECK(e, l->block[i] >= 1 && l->block[i] <= max_block[i],
              "%s: expected 1 <= block.%c <= %" PRId64 ", got %" PRId64, kernel->name, 'x' + i, max_block[i],
              l->block[i]);
        CHECK(e, l->cluster[i] >= 0 && l->cluster[i] <= max_grid[i],
              "%s: expected 0 <= cluster.%c <= %" PRId64 ", got %" PRId64, kernel->name, 'x' + i, max_grid[i],
              l->cluster[i]);
    }
    CHECK(e, l->shared >= 0 && l->shared <= scope->max_shared,
          "%s: expected 0 <= shared <= %" PRId64 " bytes on this GPU, got %" PRId64, kernel->name, scope->max_shared,
          l->shared);
    return true;
}

/* Whether the launch has so few blocks that its beginning is much of its time: see csrc/device/launch_order.cuh. */
static bool is_short(const cuda_scope *scope, const cuda_launch *l) {
    return l->grid[0] * l->grid[1] * l->grid[2] <= 8 * scope->sm_count; /* below 2^63: see check_launch */
}

static unsigned set_attributes(CUlaunchAttribute attributes[2], const cuda_launch *l, bool early) {
    unsigned count = 0;
    if (l->cluster[0] > 1 || l->cluster[1] > 1 || l->cluster[2] > 1) {
        CUlaunchAttribute *const cluster = &attributes[count++];
        cluster->id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
        cluster->value.clusterDim.x = l->cluster[0] > 0 ? (unsigned)l->cluster[0] : 1;
        cluster->value.clusterDim.y = l->cluster[1] > 0 ? (unsigned)l->cluster[1] : 1;
        cluster->value.clusterDim.z = l->cluster[2] > 0 ? (unsigned)l->cluster[2] : 1;
    }
    if (early) {
        CUlaunchAttribute *const serialization = &attributes[count++];
        serialization->id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
        serialization->value.programmaticStreamSerializationAllowed = 1;
    }
    return count;
}

bool cuda_launch_one(error *e, const cuda_scope *scope, cuda_kernel *kernel, const cuda_launch *l, const void *call,
                     bool *empty) {
    CUkernel handle;
    *empty = is_empty(l);
    if (!check_launch(e, scope, kernel, l)) {
        return false;
    }
    if (*empty) {
        return true;
    }
    if (!get_kernel(e, scope, kernel, &handle)) {
        return false;
    }
    if (l->shared > 0 && !allow_shared(e, scope, kernel, handle)) {
        return false;
    }
    bool early = false;
    if (is_short(scope, l) && !may_begin_early(e, scope, kernel, handle, &early)) {
        return false;
    }
    CUlaunchAttribute attributes[2];
    const unsigned count = set_attributes(attributes, l, early);
    const CUlaunchConfig config = {
        .gridDimX = (unsigned)l->grid[0],
        .gridDimY = (unsigned)l->grid[1],
        .gridDimZ = (unsigned)l->grid[2],
        .blockDimX = (unsigned)l->block[0],
        .blockDimY = (unsigned)l->block[1],
        .blockDimZ = (unsigned)l->block[2],
        .sharedMemBytes = (unsigned)l->shared,
        .hStream = scope->stream,
        .attrs = attributes,
        .numAttrs = count,
    };
    /* The driver reads the parameters before it returns and does not write to them. */
    void *first;
    memcpy(&first, &call, sizeof first);
    void *parameters[] = {first, &early};
    CHECK_CUDA(e, kernel->name, driver.cuLaunchKernelEx(&config, (CUfunction)(void *)handle, parameters, NULL));
    return true;
}

bool cuda_any_empty(const cuda_plan *plans, int count) {
    for (int i = 0; i < count; i++) {
        if (plans[i].kernel != NULL && is_empty(&plans[i].launch)) {
            return true;
        }
    }
    return false;
}

bool cuda_run(error *e, const cuda_scope *scope, const cuda_plan *plans, int count, const void *call) {
    for (int i = 0; i < count; i++) {
        bool none;
        if (plans[i].kernel != NULL && !is_empty(&plans[i].launch) &&
            !cuda_launch_one(e, scope, plans[i].kernel, &plans[i].launch, call, &none)) {
            return false;
        }
    }
    return true;
}

bool cuda_zero(error *e, int32_t device_index, void *data, int64_t bytes) {
    cuda_scope scope;
    if (!cuda_enter(e, device_index, &scope)) {
        return false;
    }
    const CUresult result = driver.cuMemsetD8Async((CUdeviceptr)(uintptr_t)data, 0, (size_t)bytes, scope.stream);
    cuda_leave(e, &scope);
    CHECK_CUDA(e, "cuMemsetD8Async", result);
    return !e->set;
}

/* An element of 8 or 16 bytes is 32-bit words, of which each is the column of a matrix with a row for each element. */
static CUresult fill_words(CUstream stream, CUdeviceptr data, const uint32_t *word, size_t words, size_t count) {
    size_t equal = 1;
    while (equal < words && word[equal] == word[0]) {
        equal++;
    }
    if (equal == words) {
        return driver.cuMemsetD32Async(data, word[0], words * count, stream);
    }
    for (size_t i = 0; i < words; i++) {
        const CUdeviceptr column = data + i * sizeof *word;
        const CUresult result = driver.cuMemsetD2D32Async(column, words * sizeof *word, word[i], 1, count, stream);
        if (result != CUDA_SUCCESS) {
            return result;
        }
    }
    return CUDA_SUCCESS;
}

static CUresult fill_memory(CUstream stream, CUdeviceptr data, const void *element, size_t size, size_t bytes) {
    uint16_t half;
    uint32_t word[4];
    switch (size) {
    case 1:
        return driver.cuMemsetD8Async(data, *(const unsigned char *)element, bytes, stream);
    case 2:
        memcpy(&half, element, size);
        return driver.cuMemsetD16Async(data, half, bytes / size, stream);
    default:
        memcpy(word, element, size);
        return fill_words(stream, data, word, size / sizeof *word, bytes / size);
    }
}

bool cuda_fill(error *e, int32_t device_index, void *data, const void *element, int64_t size, int64_t bytes) {
    cuda_scope scope;
    if (!cuda_enter(e, device_index, &scope)) {
        return false;
    }
    const CUresult result =
        fill_memory(scope.stream, (CUdeviceptr)(uintptr_t)data, element, (size_t)size, (size_t)bytes);
    cuda_leave(e, &scope);
    CHECK_CUDA(e, "cuMemset", result);
    return !e->set;
}

bool cuda_require_pinned(error *e, const char *name, const void *data) {
    unsigned type;
    const CUresult result = data == NULL ? CUDA_SUCCESS
                                         : driver.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                                        (CUdeviceptr)(uintptr_t)data);
    CHECK(e, result != CUDA_ERROR_INVALID_VALUE,
          "%s: expected pinned memory that needs no copy, since kernels read it, got other memory", name);
    CHECK_CUDA(e, "cuPointerGetAttribute", result);
    return true;
}

bool cuda_is_capturing(error *e, const cuda_scope *scope, bool *capturing) {
    int status;
    CHECK_CUDA(e, "cuStreamIsCapturing", driver.cuStreamIsCapturing(scope->stream, &status));
    *capturing = status != 0;
    return true;
}

bool cuda_copy_to_host(error *e, const cuda_scope *scope, void *to, const void *from, int64_t bytes) {
    CHECK_CUDA(e, "cuMemcpyDtoHAsync",
               driver.cuMemcpyDtoHAsync_v2(to, (CUdeviceptr)(uintptr_t)from, (size_t)bytes, scope->stream));
    return true;
}

bool cuda_synchronize(error *e, const cuda_scope *scope) {
    CHECK_CUDA(e, "cuStreamSynchronize", driver.cuStreamSynchronize(scope->stream));
    return true;
}
