/* What is done to memory of a device and asked of its stream, besides launches. */
#include <string.h>

#include "cuda_internal.h"

bool cuda_zero(error *e, int32_t device_index, void *data, int64_t bytes) {
    cuda_scope scope;
    if (!cuda_enter(e, device_index, &scope)) {
        return false;
    }
    const CUresult result = libcuda.cuMemsetD8Async((CUdeviceptr)(uintptr_t)data, 0, (size_t)bytes, scope.stream);
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
        return libcuda.cuMemsetD32Async(data, word[0], words * count, stream);
    }
    for (size_t i = 0; i < words; i++) {
        const CUdeviceptr column = data + i * sizeof *word;
        const CUresult result = libcuda.cuMemsetD2D32Async(column, words * sizeof *word, word[i], 1, count, stream);
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
        return libcuda.cuMemsetD8Async(data, *(const unsigned char *)element, bytes, stream);
    case 2:
        memcpy(&half, element, size);
        return libcuda.cuMemsetD16Async(data, half, bytes / size, stream);
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
                                         : libcuda.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                                                         (CUdeviceptr)(uintptr_t)data);
    CHECK(e, result != CUDA_ERROR_INVALID_VALUE,
          "%s: expected pinned memory that needs no copy, since kernels read it, got other memory", name);
    CHECK_CUDA(e, "cuPointerGetAttribute", result);
    return true;
}

bool cuda_is_capturing(error *e, const cuda_scope *scope, bool *capturing) {
    int status;
    CHECK_CUDA(e, "cuStreamIsCapturing", libcuda.cuStreamIsCapturing(scope->stream, &status));
    *capturing = status != 0;
    return true;
}

bool cuda_copy_to_host(error *e, const cuda_scope *scope, void *to, const void *from, int64_t bytes) {
    CHECK_CUDA(e, "cuMemcpyDtoHAsync",
               libcuda.cuMemcpyDtoHAsync_v2(to, (CUdeviceptr)(uintptr_t)from, (size_t)bytes, scope->stream));
    return true;
}

bool cuda_synchronize(error *e, const cuda_scope *scope) {
    CHECK_CUDA(e, "cuStreamSynchronize", libcuda.cuStreamSynchronize(scope->stream));
    return true;
}
