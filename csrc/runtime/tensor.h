/* Tensors as a host function handles them: a handle and what was read from it.
 *
 * A `tensor` owns its handle. The arguments of a boxed kernel are taken with tensor_take, everything else comes from
 * tensor_empty; tensor_give hands a result to PyTorch, and tensor_release deletes whatever is still owned, so that a
 * host function releases all of its tensors on every path in the same way. */
#ifndef RUNTIME_TENSOR_H
#define RUNTIME_TENSOR_H

#include "dtype.h"
#include "error.h"
#include "torch_abi.h"

/* As many dimensions as PyTorch's own operators accept. */
enum { MAX_DIMS = 64 };

typedef struct device {
    int32_t type;
    int32_t index;
} device;

typedef struct tensor {
    AtenTensorHandle handle; /* owned, null when absent */
    const int64_t *sizes;    /* borrowed from the handle, `dim` of them */
    const int64_t *strides;  /* borrowed, in elements */
    int64_t dim;
    dtype dtype;
    device device;
} tensor;

/* Sizes of a tensor that is about to be made. */
typedef struct shape {
    int64_t dim;
    int64_t sizes[MAX_DIMS];
} shape;

/* Takes an argument from the boxed stack; reads nothing, cannot fail. */
void tensor_take(tensor *t, StableIValue value);

/* Whether the tensor is there: an optional argument may be absent, an output not wanted. */
static inline bool given(const tensor *t) { return t->handle != NULL; }

/* Reads dtype, device, sizes and strides of the tensor argument `name`, if it is given. */
bool tensor_read(error *e, tensor *t, const char *name);

/* Replaces a tensor that is given and not contiguous by a contiguous copy on the same device. */
bool tensor_make_contiguous(error *e, tensor *t);

/* Replaces a tensor by a contiguous copy on the same device. */
bool tensor_make_copy(error *e, tensor *t);

/* Makes an uninitialised contiguous tensor; `name` is for the text of an error. */
bool tensor_empty(error *e, tensor *t, const char *name, const shape *s, dtype d, device where);

/* The data of a tensor, null for an absent one. */
bool tensor_const_data(error *e, const tensor *t, const void **data);
bool tensor_mutable_data(error *e, const tensor *t, void **data);

/* Sets every byte of a contiguous CPU or CUDA tensor to zero, in the order of the current stream. */
bool tensor_zero(error *e, const tensor *t);

/* Makes an absent tensor an undefined one, which is how PyTorch passes one that is not wanted (None in Python). */
void tensor_define(error *e, tensor *t);

/* Hands the tensor to PyTorch, or deletes it when the call has failed. */
void tensor_give(error *e, tensor *t, StableIValue *slot);

/* Deletes the handle if there is one. */
void tensor_release(error *e, tensor *t);

/* Number of elements and of bytes; 0 for an absent tensor. */
int64_t tensor_numel(const tensor *t);
int64_t tensor_bytes(const tensor *t);

/* Size and stride of dimension `index`, which counts from the end when negative; sets *overflow when there is none. */
int64_t tensor_size(bool *overflow, const tensor *t, int64_t index);
int64_t tensor_stride(bool *overflow, const tensor *t, int64_t index);

static inline bool same_device(const tensor *a, const tensor *b) {
    return a->device.type == b->device.type && a->device.index == b->device.index;
}

bool on_cuda(const tensor *t);

/* Appends to the sizes of a shape; more than MAX_DIMS of them are an error. */
bool shape_add(error *e, shape *s, const int64_t *sizes, int64_t count);
bool shape_add_dim(error *e, shape *s, int64_t size);

/* The dims of a star, borrowed from the argument that binds it. */
typedef struct star {
    const int64_t *sizes;
    int64_t count;
} star;

bool same_sizes(const int64_t *a, int64_t count_a, const int64_t *b, int64_t count_b);

/* Spelled out for an error: [2, 3], cuda:0; at most TEXT_DIMS numbers, then "...". The last one spells where
 * element `i` stands, in row-major order: [0, 3], and nothing for a 0-d tensor. */
enum { TEXT_DIMS = 16 };
const char *sizes_text(error *e, const int64_t *sizes, int64_t count);
const char *shape_text(error *e, const tensor *t);
const char *device_text(error *e, const tensor *t);
const char *index_text(error *e, const tensor *t, int64_t i);

/* True when the address is a multiple of `bytes`, a power of two; null is. */
static inline bool aligned_to(const void *data, uintptr_t bytes) { return ((uintptr_t)data & (bytes - 1)) == 0; }

#endif
