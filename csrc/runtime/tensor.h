/* Tensors as a host function handles them: a handle, or what the direct module lends (lent.h), and what was read from
 * it.
 *
 * A `tensor` owns its handle. The arguments of a boxed kernel are taken with tensor_take, everything else comes from
 * tensor_empty; tensor_give hands a result to PyTorch, and tensor_release deletes whatever is still owned, so that a
 * host function releases all of its tensors on every path in the same way. */
#ifndef RUNTIME_TENSOR_H
#define RUNTIME_TENSOR_H

#include "boxed.h"
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
    AtenTensorHandle handle;     /* owned, null when absent or lent */
    const struct DLTensor *lent; /* borrowed; null but for a tensor that was lent */
    const int64_t *sizes;        /* borrowed from either, `dim` of them */
    const int64_t *strides;      /* borrowed, in elements */
    int64_t dim;
    int64_t numel; /* 0 when absent */
    dtype dtype;
    device device;
} tensor;

/* Sizes of a tensor that is about to be made. */
typedef struct shape {
    int64_t dim;
    int64_t sizes[MAX_DIMS];
} shape;

/* Takes an argument from the boxed stack; reads nothing, cannot fail. */
static inline void tensor_take(tensor *t, StableIValue value) {
    if ((value & LENT_MARK) != 0) {
        t->lent = (const struct DLTensor *)(uintptr_t)(value ^ LENT_MARK);
    } else {
        t->handle = (AtenTensorHandle)(uintptr_t)value;
    }
}

/* Whether the tensor is there: an optional argument may be absent, an output not wanted. */
static inline bool given(const tensor *t) { return t->handle != NULL || t->lent != NULL; }

/* What a tensor is called in an error: `name`, or for number `i` of that list xs[3]. Spelled out there only, since a
 * list may be long. */
enum { NO_ELEMENT = -1 };
const char *tensor_text(error *e, const char *name, int64_t i);

/* Reads dtype, device, sizes and strides of the tensor argument `name`, if it is given. */
bool tensor_read(error *e, tensor *t, const char *name);

/* The same for number `i` of the list argument `name`. */
bool tensor_read_element(error *e, tensor *t, const char *name, int64_t i);

/* Replaces a tensor by a contiguous copy on the same device. */
bool tensor_make_copy(error *e, tensor *t);

/* Replaces a tensor that only negates or conjugates the elements of another by a copy of what it stands for. */
bool tensor_resolve(error *e, tensor *t);

/* Copies the elements of one tensor to another of the same sizes, in the order of the current stream. */
bool tensor_copy_elements(error *e, const tensor *to, const tensor *from);

/* Makes an uninitialised contiguous tensor; `name` is for the text of an error. */
bool tensor_empty(error *e, tensor *t, const char *name, const shape *s, dtype d, device where);

/* The same in two steps, for other strides. Contiguous ones are as PyTorch defines them: a size of 0 counts as 1. The
 * first returns the number of elements, -1 after an error. */
int64_t contiguous_strides(error *e, const char *name, const shape *s, int64_t *strides);
bool tensor_empty_strided(error *e, tensor *t, const shape *s, const int64_t *strides, int64_t numel, dtype d,
                          device where);

/* Storage can be freed, or cut to nothing, behind a tensor that stays. */
static inline bool tensor_has_data(error *e, const tensor *t, const void *data) {
    CHECK(e, data != NULL || t->numel == 0, "a tensor of %" PRId64 " elements has no memory; its storage was freed",
          t->numel);
    return true;
}

/* The first element of a lent tensor. */
void *lent_data(const tensor *t);

/* The data of a tensor, null for an absent one. */
static inline bool tensor_const_data(error *e, const tensor *t, const void **data) {
    *data = t->lent != NULL ? lent_data(t) : NULL;
    if (t->handle != NULL) {
        CHECK_ABI(e, torch_get_const_data_ptr, t->handle, data);
    }
    return tensor_has_data(e, t, *data);
}

static inline bool tensor_mutable_data(error *e, const tensor *t, void **data) {
    *data = t->lent != NULL ? lent_data(t) : NULL;
    if (t->handle != NULL) {
        CHECK_ABI(e, torch_get_mutable_data_ptr, t->handle, data);
    }
    return tensor_has_data(e, t, *data);
}

/* Fills an int64 tensor with numbers from 0 to 2^63 - 1 that PyTorch's generator of its device draws: what
 * torch.manual_seed, checkpointing and CUDA graphs do to random numbers, they do to these. */
bool tensor_draw(error *e, tensor *t);

/* Sets every byte of a contiguous CPU or CUDA tensor to zero, in the order of the current stream. */
bool tensor_zero(error *e, const tensor *t);

/* Makes an absent tensor an undefined one, which is how PyTorch passes one that is not wanted (None in Python). */
void tensor_define(error *e, tensor *t);

/* The same for a result that may be absent: a box on the heap, which PyTorch deletes, or null. */
void tensor_give_optional(error *e, tensor *t, StableIValue *slot);

/* Deletes the handle if there is one. */
static inline void tensor_release(error *e, tensor *t) {
    if (t->handle != NULL && aoti_torch_delete_tensor_object(t->handle) != 0) {
        fail_abi(e, "aoti_torch_delete_tensor_object");
    }
    t->handle = NULL;
    t->lent = NULL;
}

/* Hands the tensor to PyTorch, or deletes it when the call has failed. */
static inline void tensor_give(error *e, tensor *t, StableIValue *slot) {
    if (e->set) {
        tensor_release(e, t);
        return;
    }
    *slot = (StableIValue)(uintptr_t)t->handle;
    t->handle = NULL;
}

/* Bytes of all elements; 0 for an absent tensor. */
static inline int64_t tensor_bytes(const tensor *t) { return t->numel * dtype_size(t->dtype); }

/* Size and stride of dimension `index`, which counts from the end when negative; sets *overflow when there is none. */
int64_t tensor_size(bool *overflow, const tensor *t, int64_t index);
int64_t tensor_stride(bool *overflow, const tensor *t, int64_t index);

static inline bool same_device(const tensor *a, const tensor *b) {
    return a->device.type == b->device.type && a->device.index == b->device.index;
}

/* PyTorch's number of CUDA, asked once, when the library is loaded. */
extern int32_t device_type_cuda;
void device_load(void);

static inline bool on_cuda(const tensor *t) { return t->device.type == device_type_cuda; }

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
