#include "tensor.h"

#include <stdio.h>
#include <string.h>

#include "argument.h"
#include "cuda.h"
#include "lent.h"

int32_t device_type_cuda;

void device_load(void) { device_type_cuda = aoti_torch_device_type_cuda(); }

/* Sizes and strides, where `dim` is known. */
static bool read_layout(error *e, tensor *t) {
    int64_t *sizes;
    int64_t *strides;
    CHECK_ABI(e, aoti_torch_get_sizes, t->handle, &sizes);
    CHECK_ABI(e, aoti_torch_get_strides, t->handle, &strides);
    t->sizes = sizes;
    t->strides = strides;
    return true;
}

/* PyTorch passes None where a tensor is due as a tensor without strides, of no dtype. */
static bool is_undefined(const tensor *t) {
    int64_t *strides;
    return aoti_torch_get_strides(t->handle, &strides) != 0;
}

const char *tensor_text(error *e, const char *name, int64_t i) {
    if (i == NO_ELEMENT) {
        return name;
    }
    char *const text = error_value(e);
    snprintf(text, ERROR_VALUE, "%s[%" PRId64 "]", name, i);
    return text;
}

bool tensor_read(error *e, tensor *t, const char *name) { return tensor_read_element(e, t, name, NO_ELEMENT); }

/* What PyTorch knows of a tensor that has a handle. */
static bool read_handle(error *e, tensor *t, const char *name, int64_t i) {
    int32_t number;
    CHECK_ABI(e, aoti_torch_get_dtype, t->handle, &number);
    t->dtype = dtype_from_torch(number);
    if (t->dtype == DTYPE_OTHER && is_undefined(t)) {
        return fail(e, "%s: expected a tensor, got None", tensor_text(e, name, i));
    }
    CHECK_ABI(e, aoti_torch_get_dim, t->handle, &t->dim);
    if (!read_layout(e, t)) {
        return false;
    }
    CHECK_ABI(e, aoti_torch_get_device_type, t->handle, &t->device.type);
    t->device.index = -1; /* the CPU has no number */
    if (on_cuda(t)) {
        CHECK_ABI(e, aoti_torch_get_device_index, t->handle, &t->device.index);
    }
    return true;
}

bool tensor_read_element(error *e, tensor *t, const char *name, int64_t i) {
    if (!given(t)) {
        return true;
    }
    if (t->lent == NULL) {
        if (!read_handle(e, t, name, i)) {
            return false;
        }
    } else if (!lent_read(t)) {
        return fail(e, "%s: expected memory of the CPU or of CUDA, got that of DLPack's device type %" PRId32,
                    tensor_text(e, name, i), t->lent->device.device_type);
    }
    CHECK(e, t->dim <= MAX_DIMS, "%s: expected at most %d dimensions, got %" PRId64, tensor_text(e, name, i), MAX_DIMS,
          t->dim);
    uint64_t numel = 1; /* it fits, PyTorch has checked; except before a size of 0, which puts that right */
    for (int64_t d = 0; d < t->dim; d++) {
        numel *= (uint64_t)t->sizes[d];
    }
    t->numel = (int64_t)numel;
    return true;
}

/* The dimension that `index` means, or -1. */
static int64_t dim_of(bool *overflow, const tensor *t, int64_t index) {
    const int64_t i = index < 0 ? index + t->dim : index;
    if (i < 0 || i >= t->dim) {
        *overflow = true;
        return -1;
    }
    return i;
}

int64_t tensor_size(bool *overflow, const tensor *t, int64_t index) {
    const int64_t i = dim_of(overflow, t, index);
    return i < 0 ? 0 : t->sizes[i];
}

int64_t tensor_stride(bool *overflow, const tensor *t, int64_t index) {
    const int64_t i = dim_of(overflow, t, index);
    return i < 0 ? 0 : t->strides[i];
}

bool shape_add(error *e, shape *s, const int64_t *sizes, int64_t count) {
    CHECK(e, s->dim + count <= MAX_DIMS, "expected at most %d dimensions in an output, got %" PRId64, MAX_DIMS,
          s->dim + count);
    for (int64_t i = 0; i < count; i++) { /* a few, which memcpy needs longer for */
        s->sizes[s->dim++] = sizes[i];
    }
    return true;
}

bool shape_add_dim(error *e, shape *s, int64_t size) { return shape_add(e, s, &size, 1); }

bool same_sizes(const int64_t *a, int64_t count_a, const int64_t *b, int64_t count_b) {
    return count_a == count_b && (count_a == 0 || memcmp(a, b, (size_t)count_a * sizeof *a) == 0);
}

int64_t contiguous_strides(error *e, const char *name, const shape *s, int64_t *strides) {
    /* 2^60 elements of 16 bytes are out of any allocator's reach; past that, strides would not fit either. */
    const int64_t limit = INT64_C(1) << 60;
    int64_t stride = 1;
    bool empty = false;
    for (int64_t i = s->dim - 1; i >= 0; i--) {
        const int64_t size = s->sizes[i];
        strides[i] = stride;
        empty |= size == 0;
        if (size < 0) {
            fail(e, "%s: expected sizes >= 0, got size %" PRId64 " in dimension %" PRId64, name, size, i);
            return -1;
        }
        if (__builtin_mul_overflow(stride, size > 0 ? size : 1, &stride) || stride > limit) {
            fail(e, "%s: has more elements than can be addressed", name);
            return -1;
        }
    }
    return empty ? 0 : stride;
}

bool tensor_empty_strided(error *e, tensor *t, const shape *s, const int64_t *strides, int64_t numel, dtype d,
                          device where) {
    if (aoti_torch_empty_strided(s->dim, s->sizes, strides, dtype_to_torch(d), where.type, where.index, &t->handle) !=
        0) {
        t->handle = NULL;
        return fail_abi(e, "aoti_torch_empty_strided");
    }
    t->dim = s->dim;
    t->numel = numel;
    t->dtype = d;
    t->device = where;
    return read_layout(e, t);
}

bool tensor_empty(error *e, tensor *t, const char *name, const shape *s, dtype d, device where) {
    int64_t strides[MAX_DIMS];
    const int64_t numel = contiguous_strides(e, name, s, strides);
    return numel >= 0 && tensor_empty_strided(e, t, s, strides, numel, d, where);
}

/* Autograd would record what a host function asks of ATen: grad mode is off meanwhile. Returns what it was. */
static bool grad_mode_off(void) {
    const bool was_on = aoti_torch_grad_mode_is_enabled();
    if (was_on) {
        aoti_torch_grad_mode_set_enabled(false);
    }
    return was_on;
}

static void grad_mode_restore(bool was_on) {
    if (was_on) {
        aoti_torch_grad_mode_set_enabled(true);
    }
}

bool tensor_copy_elements(error *e, const tensor *to, const tensor *from) {
    AtenTensorHandle target, source;
    tensor made[2] = {{.handle = NULL}, {.handle = NULL}};
    const bool grad_mode = grad_mode_off();
    const bool ok = lent_handle(e, to, &made[0], &target) && lent_handle(e, from, &made[1], &source) &&
                    (aoti_torch_copy_(target, source, false) == 0 || fail_abi(e, "aoti_torch_copy_"));
    grad_mode_restore(grad_mode);
    tensor_release(e, &made[0]);
    tensor_release(e, &made[1]);
    return ok;
}

bool tensor_make_copy(error *e, tensor *t) {
    shape s = {.dim = 0};
    tensor copy = {.handle = NULL};
    if (!shape_add(e, &s, t->sizes, t->dim) || !tensor_empty(e, &copy, "contiguous copy", &s, t->dtype, t->device) ||
        !tensor_copy_elements(e, &copy, t)) {
        tensor_release(e, &copy);
        return false;
    }
    tensor_release(e, t);
    *t = copy;
    return !e->set;
}

/* Puts what an operator of PyTorch returns for a tensor in its place; `stack` has its other arguments behind the first.
 */
static bool call_on(error *e, tensor *t, const char *name, StableIValue *stack) {
    stack[0] = (StableIValue)(uintptr_t)t->handle;
    t->handle = NULL; /* the call owns it */
    const bool grad_mode = grad_mode_off();
    const bool ok = torch_call_dispatcher(name, "", stack, TORCH_ABI_VERSION) == 0;
    grad_mode_restore(grad_mode);
    if (!ok) {
        return fail_abi(e, name);
    }
    t->handle = (AtenTensorHandle)(uintptr_t)stack[0];
    return true;
}

bool tensor_draw(error *e, tensor *t) {
    StableIValue stack[2] = {0}; /* no generator but the default one */
    return call_on(e, t, "aten::random_", stack);
}

bool tensor_resolve(error *e, tensor *t) {
    StableIValue stack[1];
    if (t->handle == NULL || dtype_is_integer(t->dtype)) { /* the direct module lends none that does */
        return true;
    }
    if (dtype_is_complex(t->dtype) && !call_on(e, t, "aten::resolve_conj", stack)) {
        return false;
    }
    return call_on(e, t, "aten::resolve_neg", stack) && tensor_read(e, t, "tensor of a list");
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

const char *device_text(error *e, const tensor *t) { return device_quoted(e, &t->device); }

void tensor_give_optional(error *e, tensor *t, StableIValue *slot) {
    *slot = 0;
    if (t->handle == NULL) {
        return;
    }
    StableIValue *const box = e->set ? NULL : _Znwm(sizeof *box);
    if (box == NULL) {
        tensor_release(e, t);
        return;
    }
    tensor_give(e, t, box);
    *slot = (StableIValue)(uintptr_t)box;
}
