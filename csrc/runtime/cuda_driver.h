/* The part of the CUDA driver API that this library uses, declared by hand: a build needs no CUDA header for its host
 * code, and the library is linked to nothing of CUDA. Names and numbers are NVIDIA's, from cuda.h of CUDA 12.0. */
#ifndef RUNTIME_CUDA_DRIVER_H
#define RUNTIME_CUDA_DRIVER_H

#include <stddef.h>
#include <stdint.h>

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUlib_st *CUlibrary;
typedef struct CUkern_st *CUkernel;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream; /* launch.h has it too, for code that sees nothing of the driver */

enum {
    CUDA_SUCCESS = 0,
    CUDA_ERROR_INVALID_VALUE = 1,
    CUDA_ERROR_NO_BINARY_FOR_GPU = 209,
    CUDA_ERROR_UNSUPPORTED_PTX_VERSION = 222,
};

/* Errors of the runtime API, whose other numbers are those of the driver: the driver is older than the runtime, and no
 * code of a kernel fits the device. */
enum { CUDA_RUNTIME_INSUFFICIENT_DRIVER = 35, CUDA_RUNTIME_NO_SUCH_FUNCTION = 98 };

enum {
    CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
    CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76,
    CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN = 97,
};

enum {
    CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES = 1,
    CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES = 8,
};

enum { CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION = 4 };

enum { CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2 };

typedef struct CUlaunchAttribute {
    int id;
    char pad[8 - sizeof(int)];
    union {
        char pad[64];
        struct {
            unsigned x, y, z;
        } clusterDim;
    } value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ;
    unsigned blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned numAttrs;
} CUlaunchConfig;

typedef struct cuda_driver {
    CUresult (*cuGetErrorName)(CUresult error, const char **name);
    CUresult (*cuGetErrorString)(CUresult error, const char **text);
    CUresult (*cuDriverGetVersion)(int *version);
    CUresult (*cuDeviceGet)(CUdevice *device, int ordinal);
    CUresult (*cuDeviceGetAttribute)(int *value, int attribute, CUdevice device);
    CUresult (*cuDevicePrimaryCtxRetain)(CUcontext *context, CUdevice device);
    CUresult (*cuCtxGetCurrent)(CUcontext *context);
    CUresult (*cuCtxPushCurrent_v2)(CUcontext context);
    CUresult (*cuCtxPopCurrent_v2)(CUcontext *context);
    CUresult (*cuLibraryLoadData)(CUlibrary *library, const void *image, void *jit_options, void **jit_values,
                                  unsigned jit_count, void *options, void **values, unsigned count);
    CUresult (*cuLibraryGetKernel)(CUkernel *kernel, CUlibrary library, const char *name);
    CUresult (*cuKernelGetAttribute)(int *value, int attribute, CUkernel kernel, CUdevice device);
    CUresult (*cuKernelSetAttribute)(int attribute, int value, CUkernel kernel, CUdevice device);
    CUresult (*cuLaunchKernelEx)(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra);
    CUresult (*cuMemsetD8Async)(CUdeviceptr data, unsigned char value, size_t count, CUstream stream);
    CUresult (*cuMemsetD16Async)(CUdeviceptr data, unsigned short value, size_t count, CUstream stream);
    CUresult (*cuMemsetD32Async)(CUdeviceptr data, unsigned value, size_t count, CUstream stream);
    CUresult (*cuMemcpyDtoHAsync_v2)(void *to, CUdeviceptr from, size_t count, CUstream stream);
    CUresult (*cuPointerGetAttribute)(void *value, int attribute, CUdeviceptr pointer);
    CUresult (*cuStreamSynchronize)(CUstream stream);
    CUresult (*cuStreamIsCapturing)(CUstream stream, int *status);
    CUresult (*cuMemsetD2D32Async)(CUdeviceptr data, size_t pitch, unsigned value, size_t width, size_t height,
                                   CUstream stream);
} cuda_driver;

#endif
