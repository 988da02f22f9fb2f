/* Tensors, storage, threads and errors: with fake_lists.c, fake_library.c and fake_numbers.c, everything that
 * csrc/runtime/torch_abi.h declares. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_objects.h"

enum { MAX_FAKE_DIMS = 80, TEXT = 8192, MOST_BYTES = 1 << 28, MAX_COUNTS = 16 };

bool fake_ran;

static char raised[TEXT];
static int made;                         /* tensors in this attempt */
static fake_storage *counts[MAX_COUNTS]; /* of those that are one int64, and stay until the body has run */
static int count_count;

void fake_torch_begin_attempt(void) {
    fake_ran = false;
    made = 0;
    count_count = 0;
    raised[0] = '\0';
}

const char *fake_raised(void) { return raised; }
const char *torch_exception_get_what_without_backtrace(void) { return FAKE_REASON; }

struct AtenTensorOpaque {
    fake_storage *storage; /* null: undefined */
    int64_t offset, dim;
    int64_t sizes[MAX_FAKE_DIMS], strides[MAX_FAKE_DIMS];
    int32_t dtype, device_type, device_index;
};

static fake_storage *new_storage(size_t bytes, size_t skipped) {
    fake_storage *const storage = fake_allocate(FAKE_STORAGE, sizeof *storage);
    unsigned char *const memory = malloc(bytes + skipped > 0 ? bytes + skipped : 1);
    if (memory == NULL) {
        fake_stop("out of memory for a tensor");
    }
    memset(memory, 0xa5, bytes + skipped);
    *storage = (fake_storage){.references = 1, .bytes = bytes, .memory = memory + skipped, .allocation = memory};
    return storage;
}

fake_storage *fake_new_storage(size_t bytes) { return new_storage(bytes, 0); }

void fake_release_storage(fake_storage *storage) {
    if (storage != NULL && --storage->references == 0) {
        free(storage->allocation);
        fake_release(FAKE_STORAGE, storage);
    }
}

AtenTensorHandle fake_new_tensor(fake_storage *storage, int64_t offset, int64_t dim, const int64_t *sizes,
                                 const int64_t *strides, int32_t dtype, int32_t device_type, int32_t device_index) {
    if (dim > MAX_FAKE_DIMS) {
        fake_stop("too many dimensions");
    }
    AtenTensorHandle t = fake_allocate(FAKE_TENSOR, sizeof *t);
    *t = (struct AtenTensorOpaque){.storage = storage, .offset = offset, .dim = dim, .dtype = dtype};
    t->device_type = device_type;
    t->device_index = device_index;
    if (storage != NULL) {
        storage->references++;
    }
    for (int64_t i = 0; i < dim; i++) {
        t->sizes[i] = sizes[i];
        t->strides[i] = strides[i];
    }
    return t;
}

/* ---- Tensors */

#define GET(function, type, field)                                                                                     \
    AOTITorchError function(AtenTensorHandle tensor, type *ret) {                                                      \
        STEP(#function)                                                                                                \
        *ret = tensor->field;                                                                                          \
        return 0;                                                                                                      \
    }
GET(aoti_torch_get_dim, int64_t, dim)
GET(aoti_torch_get_sizes, int64_t *, sizes)
GET(aoti_torch_get_strides, int64_t *, strides)
GET(aoti_torch_get_dtype, int32_t, dtype)
GET(aoti_torch_get_device_type, int32_t, device_type)
GET(aoti_torch_get_device_index, int32_t, device_index)

static unsigned char *data_of(AtenTensorHandle tensor) {
    return tensor->storage->memory + tensor->offset * fake_dtype_size(tensor->dtype);
}

AOTITorchError torch_get_const_data_ptr(AtenTensorHandle tensor, const void **ret_data) {
    STEP("torch_get_const_data_ptr")
    *ret_data = data_of(tensor);
    return 0;
}

AOTITorchError torch_get_mutable_data_ptr(AtenTensorHandle tensor, void **ret_data) {
    STEP("torch_get_mutable_data_ptr")
    *ret_data = data_of(tensor);
    return 0;
}

/* The bytes of a tensor, -1 where they are more than this machine gives. */
static int64_t bytes_of(int64_t dim, const int64_t *sizes, const int64_t *strides, int64_t size) {
    int64_t last = 0;
    for (int64_t i = 0; i < dim; i++) {
        if (sizes[i] < 0 || strides[i] < 0) {
            fake_stop("a tensor of negative sizes or strides was asked for");
        }
        if (sizes[i] == 0) {
            return 0;
        }
    }
    for (int64_t i = 0; i < dim; i++) {
        int64_t far;
        if (__builtin_mul_overflow(sizes[i] - 1, strides[i], &far) || far > MOST_BYTES) {
            return -1;
        }
        last += far;
    }
    return (last + 1) * size > MOST_BYTES ? -1 : (last + 1) * size;
}

int fake_misaligned;

AOTITorchError aoti_torch_empty_strided(int64_t ndim, const int64_t *sizes, const int64_t *strides, int32_t dtype,
                                        int32_t device_type, int32_t device_index, AtenTensorHandle *ret) {
    STEP("aoti_torch_empty_strided")
    const int64_t bytes = bytes_of(ndim, sizes, strides, fake_dtype_size(dtype));
    if (bytes < 0) {
        return 1;
    }
    fake_storage *const storage = new_storage((size_t)bytes, ++made == fake_misaligned ? 8 : 0);
    if (ndim == 0 && dtype == fake_dtype("int64") && count_count < MAX_COUNTS) {
        counts[count_count++] = storage;
    }
    *ret = fake_new_tensor(storage, 0, ndim, sizes, strides, dtype, device_type, device_index);
    fake_release_storage(storage);
    return 0;
}

AOTITorchError aoti_torch_new_uninitialized_tensor(AtenTensorHandle *ret) {
    STEP("aoti_torch_new_uninitialized_tensor")
    *ret = fake_new_tensor(NULL, 0, 0, NULL, NULL, 0, fake_device("cpu"), -1);
    return 0;
}

/* Host functions call it for what the direct module lends, and no call here does that. */
AOTITorchError aoti_torch_create_tensor_from_blob(void *data, int64_t ndim, const int64_t *sizes,
                                                  const int64_t *strides, int64_t storage_offset, int32_t dtype,
                                                  int32_t device_type, int32_t device_index, AtenTensorHandle *ret) {
    (void)data, (void)ndim, (void)sizes, (void)strides, (void)storage_offset, (void)dtype;
    (void)device_type, (void)device_index, (void)ret;
    fake_stop("aoti_torch_create_tensor_from_blob");
}

/* The stride of dimension `d` of `like` in `t`, which is broadcast to it. */
static int64_t broadcast_stride(AtenTensorHandle t, AtenTensorHandle like, int64_t d) {
    const int64_t own = d - (like->dim - t->dim);
    if (own < 0 || (t->sizes[own] == 1 && like->sizes[d] != 1)) {
        return 0;
    }
    if (t->sizes[own] != like->sizes[d]) {
        fake_stop("copy_ between tensors of different sizes");
    }
    return t->strides[own];
}

AOTITorchError aoti_torch_copy_(AtenTensorHandle self, AtenTensorHandle src, int32_t non_blocking) {
    (void)non_blocking;
    STEP("aoti_torch_copy_")
    if (self->dtype != src->dtype || self->dim < src->dim) {
        fake_stop("copy_ between tensors that differ");
    }
    if (aoti_torch_grad_mode_is_enabled()) {
        fake_stop("copy_ would be recorded by autograd");
    }
    const size_t size = (size_t)fake_dtype_size(self->dtype);
    int64_t count = 1;
    int64_t strides[MAX_FAKE_DIMS];
    for (int64_t i = 0; i < self->dim; i++) {
        strides[i] = broadcast_stride(src, self, i);
        count *= self->sizes[i];
    }
    for (int64_t n = 0; n < count; n++) {
        int64_t to = 0, from = 0, rest = n;
        for (int64_t d = self->dim - 1; d >= 0; d--) {
            to += rest % self->sizes[d] * self->strides[d];
            from += rest % self->sizes[d] * strides[d];
            rest /= self->sizes[d];
        }
        memcpy(data_of(self) + (size_t)to * size, data_of(src) + (size_t)from * size, size);
    }
    return 0;
}

static AtenTensorHandle another(AtenTensorHandle t) {
    return fake_new_tensor(t->storage, t->offset, t->dim, t->sizes, t->strides, t->dtype, t->device_type,
                           t->device_index);
}

AOTITorchError aoti_torch_new_tensor_handle(AtenTensorHandle tensor, AtenTensorHandle *ret) {
    STEP("aoti_torch_new_tensor_handle")
    *ret = another(tensor);
    return 0;
}

AOTITorchError aoti_torch__reinterpret_tensor(AtenTensorHandle self, int64_t ndim, const int64_t *sizes,
                                              const int64_t *strides, int64_t storage_offset, AtenTensorHandle *ret) {
    STEP("aoti_torch__reinterpret_tensor")
    *ret = fake_new_tensor(self->storage, storage_offset, ndim, sizes, strides, self->dtype, self->device_type,
                           self->device_index);
    return 0;
}

void fake_delete_tensor(AtenTensorHandle tensor) {
    fake_release_storage(tensor->storage);
    fake_release(FAKE_TENSOR, tensor);
}

/* What cannot be deleted is gone all the same: nobody may touch it again. */
AOTITorchError aoti_torch_delete_tensor_object(AtenTensorHandle tensor) {
    fake_delete_tensor(tensor);
    return fake_fails("aoti_torch_delete_tensor_object") ? 1 : 0;
}

/* The operators that are called: steps of their names. Their argument belongs to them, whatever happens. Tensors here
 * are no views that negate or conjugate. */
AOTITorchError torch_call_dispatcher(const char *name, const char *overload, StableIValue *stack, uint64_t version) {
    const AtenTensorHandle tensor = (AtenTensorHandle)(uintptr_t)stack[0];
    const bool draws = strcmp(name, "aten::random_") == 0;
    if (strcmp(name, "aten::_neg_view") == 0 || strcmp(name, "aten::_conj") == 0) { /* tensors here have no bits */
        fake_delete_tensor(tensor);
        return 1;
    }
    const bool resolves = strcmp(name, "aten::resolve_conj") == 0 || strcmp(name, "aten::resolve_neg") == 0;
    if (!(resolves || (draws && stack[1] == 0)) || overload[0] != '\0' || version != TORCH_ABI_VERSION) {
        fake_stop("an operator that nobody should call");
    }
    if (aoti_torch_grad_mode_is_enabled()) {
        fake_stop("an operator of PyTorch would be recorded by autograd");
    }
    if (fake_fails(draws ? "aten::random_" : name[14] == 'c' ? "aten::resolve_conj" : "aten::resolve_neg")) {
        fake_delete_tensor(tensor);
        return 1;
    }
    if (resolves) {
        return 0;
    }
    memset(tensor->storage->memory, 0x5a, tensor->storage->bytes);
    return 0;
}

/* ---- Threads, grad mode, errors */

AOTITorchError torch_parallel_for(int64_t begin, int64_t end, int64_t grain_size,
                                  void (*fn)(int64_t begin, int64_t end, void *context), void *context) {
    STEP("torch_parallel_for")
    const int64_t middle = begin + (end - begin) / 2;
    if (end - begin >= 2 * grain_size && middle > begin) {
        fn(begin, middle, context);
        begin = middle;
    }
    fn(begin, end, context);
    return 0;
}

static bool grad_mode = true;

bool aoti_torch_grad_mode_is_enabled(void) { return grad_mode; }
void aoti_torch_grad_mode_set_enabled(bool enabled) { grad_mode = enabled; }

/* Does not throw: a host function raises as its last act. */
void aoti_torch_check(bool condition, const char *function, const char *file, uint32_t line, const char *text) {
    (void)function, (void)file, (void)line;
    if (!condition) {
        if (raised[0] != '\0') {
            fake_stop("a call raised twice");
        }
        snprintf(raised, sizeof raised, "%s", text);
    }
}

AOTITorchError aoti_torch_get_current_device_index(int32_t *ret_device_index) {
    STEP("aoti_torch_get_current_device_index")
    *ret_device_index = 0;
    return 0;
}

int64_t fake_reports = FAKE_REPORTS_NOTHING;

void fake_note_run(void) {
    fake_ran = true;
    for (int i = 0; i < count_count && fake_reports != FAKE_REPORTS_NOTHING; i++) {
        memcpy(counts[i]->memory, &fake_reports, sizeof fake_reports);
    }
}

bool fake_finds_bad_data;

void fake_kernel(const void *call, int64_t begin, int64_t end, cpu_piece *piece) {
    if (call == NULL || begin < 0 || begin >= end) {
        fake_stop("a kernel was called without work");
    }
    if (fake_finds_bad_data) {
        cpu_body_error(piece, "unit %" PRId64 " is bad", begin);
        cpu_body_error(piece, "so is the next one");
    }
    fake_note_run();
}
