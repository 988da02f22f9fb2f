#include "tensor.h"

#include <stdio.h>
#include <string.h>

#include "arith.h"
#include "cuda.h"

void tensor_take(tensor *t, StableIValue value) { t->handle = (AtenTensorHandle)(uintptr_t)value; }

bool tensor_read(error *e, tensor *t, const char *name) {
    int32_t number;
    int64_t *sizes;
    int64_t *strides;
    if (!given(t)) {
        return true;
    }
    CHECK_ABI(e, aoti_torch_get_dim, t->handle, &t->dim);
    CHECK(e, t->dim <= MAX_DIMS, "%s: expected at most %d dimensions, got %" PRId64, name, MAX_DIMS, t->dim);
    CHECK_ABI(e, aoti_torch_get_sizes, t->handle, &sizes);
    CHECK_ABI(e, aoti_torch_get_strides, t->handle, &strides);
    CHECK_ABI(e, aoti_torch_get_dtype, t->handle, &number);
    CHECK_ABI(e, aoti_torch_get_device_type, t->handle, &t->device.type);
    CHECK_ABI(e, aoti_torch_get_device_index, t->handle, &t->device.index);
    t->sizes = sizes;
    t->strides = strides;
    t->dtype = dtype_from_torch(number);
    return true;
}

int64_t tensor_numel(const tensor *t) {
    if (t->handle == NULL) {
        return 0;
    }
    bool exceeds = false; /* it does not: PyTorch has checked */
    return product_i64(&exceeds, t->sizes, t->dim);
}

int64_t tensor_bytes(const tensor *t) { return t->handle == NULL ? 0 : tensor_numel(t) * dtype_size(t->dtype); }

/* The place in sizes and strides that `index` means, or -1. */
static int64_t place(bool *overflow, const tensor *t, int64_t index) {
    const int64_t i = index < 0 ? index + t->dim : index;
    if (i < 0 || i >= t->dim) {
        *overflow = true;
        return -1;
    }
    return i;
}

int64_t tensor_size(bool *overflow, const tensor *t, int64_t index) {
    const int64_t i = place(overflow, t, index);
    return i < 0 ? 0 : t->sizes[i];
}

int64_t tensor_stride(bool *overflow, const tensor *t, int64_t index) {
    const int64_t i = place(overflow, t, index);
    return i < 0 ? 0 : t->strides[i];
}

bool on_cuda(const tensor *t) { return t->device.type == aoti_torch_device_type_cuda(); }

bool shape_add(error *e, shape *s, const int64_t *sizes, int64_t count) {
    CHECK(e, s->dim + count <= MAX_DIMS, "expected at most %d dimensions in an output, got %" PRId64, MAX_DIMS,
          s->dim + count);
    memcpy(s->sizes + s->dim, sizes, (size_t)count * sizeof *sizes);
    s->dim += count;
    return true;
}

bool shape_add_dim(error *e, shape *s, int64_t size) { return shape_add(e, s, &size, 1); }

bool same_sizes(const int64_t *a, int64_t count_a, const int64_t *b, int64_t count_b) {
    return count_a == count_b && (count_a == 0 || memcmp(a, b, (size_t)count_a * sizeof *a) == 0);
}

/* Contiguous strides as PyTorch defines them: a size of 0 counts as 1. */
static void contiguous_strides(const shape *s, int64_t *strides) {
    int64_t stride = 1;
    for (int64_t i = s->dim - 1; i >= 0; i--) {
        strides[i] = stride;
        stride *= s->sizes[i] > 0 ? s->sizes[i] : 1;
    }
}

bool tensor_empty(error *e, tensor *t, const char *name, const shape *s, dtype d, device where) {
    /* 2^60 elements of 16 bytes are out of any allocator's reach; past that, strides would not fit either. */
    int64_t numel = 1;
    for (int64_t i = 0; i < s->dim; i++) {
        const int64_t size = s->sizes[i] > 0 ? s->sizes[i] : 1;
        CHECK(e, s->sizes[i] >= 0, "%s: expected sizes >= 0, got size %" PRId64 " in dimension %" PRId64, name,
              s->sizes[i], i);
        CHECK(e, size <= (INT64_C(1) << 60) / numel, "%s: has more elements than can be addressed", name);
        numel *= size;
    }
    int64_t strides[MAX_DIMS];
    contiguous_strides(s, strides);
    if (aoti_torch_empty_strided(s->dim, s->sizes, strides, dtype_to_torch(d), where.type, where.index, &t->handle) !=
        0) {
        t->handle = NULL;
        fail_abi(e, "aoti_torch_empty_strided");
        return false;
    }
    return tensor_read(e, t, name);
}

bool tensor_make_copy(error *e, tensor *t) {
    shape s = {.dim = 0};
    tensor copy = {.handle = NULL};
    if (!shape_add(e, &s, t->sizes, t->dim) || !tensor_empty(e, &copy, "contiguous copy", &s, t->dtype, t->device)) {
        tensor_release(e, &copy);
        return false;
    }
    if (aoti_torch_copy_(copy.handle, t->handle, false) != 0) {
        fail_abi(e, "aoti_torch_copy_");
        tensor_release(e, &copy);
        return false;
    }
    tensor_release(e, t);
    *t = copy;
    return !e->set;
}

bool tensor_make_contiguous(error *e, tensor *t) {
    bool contiguous;
    if (!given(t)) {
        return true;
    }
    CHECK_ABI(e, aoti_torch_is_contiguous, t->handle, &contiguous);
    return contiguous || tensor_make_copy(e, t);
}

bool tensor_const_data(error *e, const tensor *t, const void **data) {
    *data = NULL;
    if (t->handle != NULL) {
        CHECK_ABI(e, torch_get_const_data_ptr, t->handle, data);
    }
    return true;
}

bool tensor_mutable_data(error *e, const tensor *t, void **data) {
    *data = NULL;
    if (t->handle != NULL) {
        CHECK_ABI(e, torch_get_mutable_data_ptr, t->handle, data);
    }
    return true;
}

bool tensor_zero(error *e, const tensor *t) {
    void *data;
    const int64_t bytes = tensor_bytes(t);
    if (bytes == 0) {
        return true;
    }
    if (!tensor_mutable_data(e, t, &data)) {
        return false;
    }
    if (on_cuda(t)) {
        return cuda_zero(e, t->device.index, data, bytes);
    }
    memset(data, 0, (size_t)bytes);
    return true;
}

void tensor_define(error *e, tensor *t) {
    if (t->handle == NULL && !e->set && aoti_torch_new_uninitialized_tensor(&t->handle) != 0) {
        t->handle = NULL;
        fail_abi(e, "aoti_torch_new_uninitialized_tensor");
    }
}

void tensor_give(error *e, tensor *t, StableIValue *slot) {
    if (e->set) {
        tensor_release(e, t);
        return;
    }
    *slot = (StableIValue)(uintptr_t)t->handle;
    t->handle = NULL;
}

void tensor_release(error *e, tensor *t) {
    if (t->handle != NULL && aoti_torch_delete_tensor_object(t->handle) != 0) {
        fail_abi(e, "aoti_torch_delete_tensor_object");
    }
    t->handle = NULL;
}

const char *sizes_text(error *e, const int64_t *sizes, int64_t count) {
    char *const text = error_value(e); /* TEXT_DIMS numbers of 20 digits fit */
    const int64_t shown = count < TEXT_DIMS ? count : TEXT_DIMS;
    size_t used = 0;
    text[used++] = '[';
    for (int64_t i = 0; i < shown; i++) {
        used += (size_t)snprintf(text + used, ERROR_VALUE - used, i > 0 ? ", %" PRId64 : "%" PRId64, sizes[i]);
    }
    snprintf(text + used, ERROR_VALUE - used, "%s]", shown < count ? ", ..." : "");
    return text;
}

const char *shape_text(error *e, const tensor *t) { return sizes_text(e, t->sizes, t->dim); }

const char *index_text(error *e, const tensor *t, int64_t i) {
    int64_t index[MAX_DIMS];
    for (int64_t d = t->dim - 1; d >= 0; d--) {
        index[d] = i % t->sizes[d];
        i /= t->sizes[d];
    }
    return t->dim == 0 ? "" : sizes_text(e, index, t->dim);
}

const char *device_text(error *e, const tensor *t) {
    char *const text = error_value(e);
    if (on_cuda(t)) {
        snprintf(text, ERROR_VALUE, "cuda:%" PRId32, t->device.index);
        return text;
    }
    return "cpu";
}
