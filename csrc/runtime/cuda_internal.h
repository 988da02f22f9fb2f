/* The driver, for the files of cuda.h alone. */
#ifndef RUNTIME_CUDA_INTERNAL_H
#define RUNTIME_CUDA_INTERNAL_H

#include "cuda.h"

/* Loaded before the first cuda_enter returns. */
extern cuda_driver libcuda;

bool cuda_failed(error *e, const char *what, CUresult result);

#define CHECK_CUDA(e, what, result)                                                                                    \
    do {                                                                                                               \
        const CUresult check_result = (result);                                                                        \
        if (check_result != CUDA_SUCCESS) {                                                                            \
            return cuda_failed((e), (what), check_result);                                                             \
        }                                                                                                              \
    } while (0)

#endif
