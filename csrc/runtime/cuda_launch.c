/* Kernels, loaded when they are first needed, and their launches. */
#include <pthread.h>
#include <string.h>

#include "cuda_internal.h"
#include "tensor.h"

/* Set by the build, for texts of errors: the architectures that the fatbins hold; the release of the nvcc that made
 * them, as the driver counts releases, 13010 for 13.1; and the oldest driver for its major version. */
#ifdef CUDA_ARCHITECTURES
enum { BUILT_WITH_CUDA = true };
#else
#define CUDA_ARCHITECTURES "none"
#define CUDA_RELEASE 0
#define CUDA_OLDEST_DRIVER "none"
enum { BUILT_WITH_CUDA = false };
#endif

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* What nvcc compiled for a GPU is loaded by every driver for the same major version of CUDA, or a newer one; PTX by
 * drivers for that release of CUDA, or a newer one. Only asked when a kernel could not be loaded: a driver that loads
 * it is never refused. */
static bool check_driver(error *e, CUresult result) {
    int version;
    CHECK_CUDA(e, "cuDriverGetVersion", libcuda.cuDriverGetVersion(&version));
    const int major = CUDA_RELEASE / 1000, minor = CUDA_RELEASE % 1000 / 10;
    CHECK(e, version >= 1000 * major,
          "the CUDA driver is too old: it is for CUDA %d.%d, and the kernels of this library were compiled by CUDA "
          "%d.%d; driver " CUDA_OLDEST_DRIVER " or newer is needed",
          version / 1000, version % 1000 / 10, major, minor);
    CHECK(e, version >= CUDA_RELEASE || result != CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
          "the CUDA driver is too old: it is for CUDA %d.%d, and this GPU needs the PTX of this library, which was "
          "made by CUDA %d.%d; a driver for CUDA %d.%d or newer is needed",
          version / 1000, version % 1000 / 10, major, minor, major, minor);
    return true;
}

bool cuda_check_built(error *e, const cuda_scope *scope) {
    CHECK(e, BUILT_WITH_CUDA,
          "this library was built without CUDA, and got a tensor on cuda:%" PRId32
          "; build it again with nvcc, which pip install \".[cuda]\" brings",
          scope->device_index);
    return true;
}

bool cuda_no_image(error *e, const cuda_scope *scope, int result) {
    return cuda_check_built(e, scope) && check_driver(e, result) &&
           fail(e,
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
        result = libcuda.cuLibraryLoadData(&library, module->image, NULL, NULL, 0, NULL, NULL, 0);
    }
    CUkernel handle = NULL;
    if (result == CUDA_SUCCESS) {
        atomic_store_explicit(&module->library, library, memory_order_relaxed);
        result = libcuda.cuLibraryGetKernel(&handle, library, kernel->name);
    }
    if (result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
        return cuda_no_image(e, scope, result);
    }
    if (result != CUDA_SUCCESS) { /* old drivers have various words for code that is newer than they are */
        return check_driver(e, result) && cuda_failed(e, kernel->name, result);
    }
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
        int own;
        CHECK_CUDA(e, kernel->name,
                   libcuda.cuKernelGetAttribute(&own, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, handle, scope->device));
        CHECK_CUDA(e, kernel->name,
                   libcuda.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                                (int)scope->max_shared - own, handle, scope->device));
        atomic_fetch_or_explicit(&kernel->shared_allowed, bit, memory_order_release);
    }
    return true;
}

bool cuda_is_empty(const cuda_launch *l) { return l->grid[0] == 0 || l->grid[1] == 0 || l->grid[2] == 0; }

static bool check_launch(error *e, const cuda_scope *scope, const cuda_kernel *kernel, const cuda_launch *l) {
    static const int64_t max_grid[3] = {INT32_MAX, 65535, 65535};
    static const int64_t max_block[3] = {1024, 1024, 64};
    for (int i = 0; i < 3; i++) {
        CHECK(e, cuda_is_empty(l) || (l->grid[i] >= 1 && l->grid[i] <= max_grid[i]),
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

/* Launches a kernel whose launch was checked and is not empty. */
static bool launch(error *e, const cuda_scope *scope, const cuda_kernel *kernel, CUkernel handle, const cuda_launch *l,
                   void **parameters) {
    CUlaunchAttribute cluster = {.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION};
    cluster.value.clusterDim.x = l->cluster[0] > 0 ? (unsigned)l->cluster[0] : 1;
    cluster.value.clusterDim.y = l->cluster[1] > 0 ? (unsigned)l->cluster[1] : 1;
    cluster.value.clusterDim.z = l->cluster[2] > 0 ? (unsigned)l->cluster[2] : 1;
    const CUlaunchConfig config = {
        .gridDimX = (unsigned)l->grid[0],
        .gridDimY = (unsigned)l->grid[1],
        .gridDimZ = (unsigned)l->grid[2],
        .blockDimX = (unsigned)l->block[0],
        .blockDimY = (unsigned)l->block[1],
        .blockDimZ = (unsigned)l->block[2],
        .sharedMemBytes = (unsigned)l->shared,
        .hStream = scope->stream,
        .attrs = &cluster,
        .numAttrs = l->cluster[0] > 1 || l->cluster[1] > 1 || l->cluster[2] > 1 ? 1 : 0,
    };
    CHECK_CUDA(e, kernel->name, libcuda.cuLaunchKernelEx(&config, (CUfunction)(void *)handle, parameters, NULL));
    return true;
}

bool cuda_launch_with(error *e, const cuda_scope *scope, cuda_kernel *kernel, const cuda_launch *l, void **parameters,
                      bool *empty) {
    CUkernel handle;
    *empty = cuda_is_empty(l);
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
    return launch(e, scope, kernel, handle, l, parameters);
}

bool cuda_launch_one(error *e, const cuda_scope *scope, cuda_kernel *kernel, const cuda_launch *l, const void *call,
                     bool *empty) {
    /* The driver reads the parameter before it returns and does not write to it. */
    void *parameter;
    memcpy(&parameter, &call, sizeof parameter);
    void *parameters[] = {parameter};
    return cuda_launch_with(e, scope, kernel, l, parameters, empty);
}

bool cuda_param(error *e, const char *kernel, const char *param, int64_t value, const int64_t *values, int64_t count,
                int64_t *row) {
    for (int64_t i = 0; i < count; i++) {
        if (values[i] == value) {
            *row = *row * count + i;
            return true;
        }
    }
    return fail(e, "%s: expected %s in %s, got %s = %" PRId64, kernel, param, sizes_text(e, values, count), param,
                value);
}

bool cuda_any_empty(const cuda_plan *plans, int count) {
    for (int i = 0; i < count; i++) {
        if (plans[i].kernel != NULL && cuda_is_empty(&plans[i].launch)) {
            return true;
        }
    }
    return false;
}

bool cuda_run(error *e, const cuda_scope *scope, const cuda_plan *plans, int count, const void *call) {
    for (int i = 0; i < count; i++) {
        bool none;
        if (plans[i].kernel != NULL && !cuda_is_empty(&plans[i].launch) &&
            !cuda_launch_one(e, scope, plans[i].kernel, &plans[i].launch, call, &none)) {
            return false;
        }
    }
    return true;
}
