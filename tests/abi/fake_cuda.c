/* A CUDA driver and a libtorch_cuda: what the runtime finds where it calls dlopen and dlsym. Memory of GPUs
 * is memory of the host here, so that fills are checked by sanitizers; launches do nothing. */
#include "fake.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_driver.h"
#include "launch.h"

enum { FAILURE = 999 };

fake_machine fake_cuda = {.has_driver = true, .torch_has_cuda = true, .arch = 90, .driver = 13010, .code = FAILURE};
int64_t fake_pushed;

static char context, library, kernel, stream;

#define STEP(name)                                                                                                     \
    if (fake_fails(name)) {                                                                                            \
        return fake_cuda.code;                                                                                         \
    }

static CUresult get_error_name(CUresult error, const char **name) {
    if (error != FAILURE) {
        return 1;
    }
    *name = "CUDA_ERROR_UNKNOWN";
    return CUDA_SUCCESS;
}

static CUresult get_error_string(CUresult error, const char **text) {
    if (error != FAILURE) {
        return 1;
    }
    *text = FAKE_REASON;
    return CUDA_SUCCESS;
}

static CUresult driver_get_version(int *version) {
    *version = fake_cuda.driver;
    return fake_cuda.driver == 0 ? FAILURE : CUDA_SUCCESS;
}

static CUresult device_get(CUdevice *device, int ordinal) {
    STEP("cuDeviceGet")
    *device = ordinal;
    return CUDA_SUCCESS;
}

static CUresult device_get_attribute(int *value, int attribute, CUdevice device) {
    (void)device;
    STEP("cuDeviceGetAttribute")
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
        *value = 132;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
        *value = fake_cuda.arch / 10;
        break;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
        *value = fake_cuda.arch % 10;
        break;
    default:
        *value = 232448;
    }
    return CUDA_SUCCESS;
}

static CUresult primary_ctx_retain(CUcontext *found, CUdevice device) {
    (void)device;
    STEP("cuDevicePrimaryCtxRetain")
    *found = (CUcontext)(void *)&context;
    return CUDA_SUCCESS;
}

static CUresult ctx_get_current(CUcontext *found) {
    STEP("cuCtxGetCurrent")
    *found = fake_pushed > 0 ? (CUcontext)(void *)&context : NULL;
    return CUDA_SUCCESS;
}

static CUresult ctx_push_current(CUcontext pushed) {
    STEP("cuCtxPushCurrent")
    if (pushed != (CUcontext)(void *)&context) {
        fake_stop("a context that is none");
    }
    fake_pushed++;
    return CUDA_SUCCESS;
}

static CUresult ctx_pop_current(CUcontext *popped) {
    if (fake_pushed-- == 0) {
        fake_stop("no context to pop");
    }
    *popped = (CUcontext)(void *)&context;
    STEP("cuCtxPopCurrent")
    return CUDA_SUCCESS;
}

static CUresult library_load_data(CUlibrary *loaded, const void *image, void *jit_options, void **jit_values,
                                  unsigned jit_count, void *options, void **values, unsigned count) {
    (void)image, (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    STEP("cuLibraryLoadData")
    *loaded = (CUlibrary)(void *)&library;
    return CUDA_SUCCESS;
}

static CUresult library_get_kernel(CUkernel *found, CUlibrary from, const char *name) {
    STEP("cuLibraryGetKernel")
    if (from != (CUlibrary)(void *)&library || strstr(name, "__") == NULL) {
        fake_stop("a kernel of no library");
    }
    *found = (CUkernel)(void *)&kernel;
    return CUDA_SUCCESS;
}

static CUresult kernel_get_attribute(int *value, int attribute, CUkernel of, CUdevice device) {
    (void)attribute, (void)of, (void)device;
    STEP("cuKernelGetAttribute")
    *value = 1024;
    return CUDA_SUCCESS;
}

static CUresult kernel_set_attribute(int attribute, int value, CUkernel of, CUdevice device) {
    (void)attribute, (void)value, (void)of, (void)device;
    STEP("cuKernelSetAttribute")
    return CUDA_SUCCESS;
}

static CUresult launch_kernel_ex(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
    (void)extra;
    STEP("cuLaunchKernelEx")
    if (function == NULL || parameters[0] == NULL || fake_pushed == 0 || config->gridDimX == 0 ||
        config->hStream != (CUstream)(void *)&stream) {
        fake_stop("a wrong launch");
    }
    fake_note_run();
    return CUDA_SUCCESS;
}

bool fake_host_code(const cuda_context *ctx, const void *call) {
    if (call == NULL || fake_pushed == 0 || ctx->stream != (CUstream)(void *)&stream || ctx->device != 0 ||
        ctx->sm_count != 132 || ctx->arch != fake_cuda.arch || ctx->max_shared != 232448) {
        fake_stop("host code is called with something wrong");
    }
    char *const first = cuda_scratch(ctx, 40);
    char *const second = first != NULL ? cuda_scratch(ctx, 0) : NULL;
    if (second == NULL) {
        return false;
    }
    memset(first, 1, 40);
    *second = 1;
    if (fake_fails("cudaLaunchKernel")) {
        return custom_failed(ctx, fake_cuda.code, "cudaErrorUnknown", FAKE_REASON);
    }
    fake_note_run();
    return true;
}

static void fill(CUdeviceptr data, const void *element, size_t size, size_t pitch, size_t count) {
    if (fake_pushed == 0) {
        fake_stop("a fill without a context");
    }
    for (size_t i = 0; i < count; i++) {
        memcpy((char *)(uintptr_t)data + i * pitch, element, size);
    }
    fake_ran = true;
}

#define MEMSET(function, type)                                                                                         \
    static CUresult fill_##function(CUdeviceptr data, type value, size_t count, CUstream on) {                         \
        (void)on;                                                                                                      \
        STEP("cuMemset" #function)                                                                                     \
        fill(data, &value, sizeof value, sizeof value, count);                                                         \
        return CUDA_SUCCESS;                                                                                           \
    }
MEMSET(D8Async, unsigned char)
MEMSET(D16Async, unsigned short)
MEMSET(D32Async, unsigned)

static CUresult fill_D2D32Async(CUdeviceptr data, size_t pitch, unsigned value, size_t width, size_t height,
                                CUstream on) {
    (void)on;
    STEP("cuMemsetD2D32Async")
    if (width != 1) {
        fake_stop("a fill of another width");
    }
    fill(data, &value, sizeof value, pitch, height);
    return CUDA_SUCCESS;
}

static CUresult memcpy_to_host(void *to, CUdeviceptr from, size_t count, CUstream on) {
    (void)on;
    STEP("cuMemcpyDtoHAsync")
    memcpy(to, (const void *)(uintptr_t)from, count);
    return CUDA_SUCCESS;
}

static CUresult pointer_get_attribute(void *value, int attribute, CUdeviceptr pointer) {
    STEP("cuPointerGetAttribute")
    if (attribute != CU_POINTER_ATTRIBUTE_MEMORY_TYPE || pointer == 0 || fake_pushed == 0) {
        fake_stop("a wrong question about a pointer");
    }
    *(unsigned *)value = 1;
    return fake_cuda.pageable ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

static CUresult stream_synchronize(CUstream on) {
    (void)on;
    STEP("cuStreamSynchronize")
    return CUDA_SUCCESS;
}

static CUresult stream_is_capturing(CUstream on, int *status) {
    (void)on;
    STEP("cuStreamIsCapturing")
    *status = fake_cuda.capturing ? 1 : 0;
    return CUDA_SUCCESS;
}

static AOTITorchError get_current_cuda_stream(int32_t device_index, void **ret_stream) {
    (void)device_index;
    if (fake_fails("aoti_torch_get_current_cuda_stream")) {
        return 1;
    }
    *ret_stream = &stream;
    return 0;
}

typedef void any_function(void);

static const struct {
    const char *name;
    any_function *function;
} functions[] = {
    {"cuGetErrorName", (any_function *)get_error_name},
    {"cuGetErrorString", (any_function *)get_error_string},
    {"cuDriverGetVersion", (any_function *)driver_get_version},
    {"cuDeviceGet", (any_function *)device_get},
    {"cuDeviceGetAttribute", (any_function *)device_get_attribute},
    {"cuDevicePrimaryCtxRetain", (any_function *)primary_ctx_retain},
    {"cuCtxGetCurrent", (any_function *)ctx_get_current},
    {"cuCtxPushCurrent_v2", (any_function *)ctx_push_current},
    {"cuCtxPopCurrent_v2", (any_function *)ctx_pop_current},
    {"cuLibraryLoadData", (any_function *)library_load_data},
    {"cuLibraryGetKernel", (any_function *)library_get_kernel},
    {"cuKernelGetAttribute", (any_function *)kernel_get_attribute},
    {"cuKernelSetAttribute", (any_function *)kernel_set_attribute},
    {"cuLaunchKernelEx", (any_function *)launch_kernel_ex},
    {"cuMemsetD8Async", (any_function *)fill_D8Async},
    {"cuMemsetD16Async", (any_function *)fill_D16Async},
    {"cuMemsetD32Async", (any_function *)fill_D32Async},
    {"cuMemsetD2D32Async", (any_function *)fill_D2D32Async},
    {"cuMemcpyDtoHAsync_v2", (any_function *)memcpy_to_host},
    {"cuPointerGetAttribute", (any_function *)pointer_get_attribute},
    {"cuStreamSynchronize", (any_function *)stream_synchronize},
    {"cuStreamIsCapturing", (any_function *)stream_is_capturing},
    {"aoti_torch_get_current_cuda_stream", (any_function *)get_current_cuda_stream},
};

static char driver_object, torch_object;

void *fake_dlopen(const char *file, int flags);
void *fake_dlopen(const char *file, int flags) {
    if (strcmp(file, "libcuda.so.1") == 0) {
        return fake_cuda.has_driver && !fake_fails("dlopen of libcuda") ? &driver_object : NULL;
    }
    if (strcmp(file, "libtorch_cuda.so") != 0 || (flags & RTLD_NOLOAD) == 0) {
        fake_stop("a library that nobody should open");
    }
    return fake_cuda.torch_has_cuda && !fake_fails("dlopen of libtorch_cuda") ? &torch_object : NULL;
}

void *fake_dlsym(void *object, const char *name);
void *fake_dlsym(void *object, const char *name) {
    const bool missing = object == &driver_object ? fake_cuda.driver_is_old && strcmp(name, "cuMemsetD2D32Async") == 0
                                                  : fake_cuda.torch_is_old;
    if (missing || fake_fails("dlsym")) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strcmp(functions[i].name, name) == 0) {
            void *symbol;
            memcpy(&symbol, &functions[i].function, sizeof symbol);
            return symbol;
        }
    }
    fake_stop("a function that the fake does not have");
}
