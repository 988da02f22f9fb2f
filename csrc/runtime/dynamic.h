/* Sizes that are known only after the kernel ran: outputs are made as large as they can get, and cut afterwards.
 *
 * A kernel finds the bound in an int64_t on its device and leaves the size there. Reading that from a GPU waits for it,
 * once for all sizes of a call; sizes that the caller has given are not read. */
#ifndef RUNTIME_DYNAMIC_H
#define RUNTIME_DYNAMIC_H

#include "cuda.h"
#include "tensor.h"

typedef struct dynamic_size {
    int64_t bound; /* the most that it can be, or what it is when it was given */
    bool given;
    int64_t count; /* what the kernel found */
} dynamic_size;

/* An int64_t on the device that holds the bound; `name` is for the text of an error. */
bool dynamic_make(error *e, tensor *t, const char *name, const dynamic_size *size, device where);

/* Refuses a size that would have to be read while the stream is captured into a CUDA graph. */
bool dynamic_may_read(error *e, const cuda_scope *scope, const char *name, const dynamic_size *size);

/* Reads what the kernels left at `found`, one pointer for each size; scope is null on the CPU. */
bool dynamic_read(error *e, const cuda_scope *scope, int count, dynamic_size *const *sizes, const void *const *found);

/* Makes the first dimension of a contiguous tensor smaller; the data stays where it is. Absent tensors stay so. */
bool dynamic_cut(error *e, tensor *t, const char *name, int64_t count);

#endif
