#include "layout.h"

#include <stdio.h>
#include <string.h>

#include "arith.h"

bool tensor_has_rows(const tensor *t, int64_t *stride) {
    const int64_t width = t->dim > 0 ? t->sizes[t->dim - 1] : 1;
    *stride = width;
    if (t->numel == 0) {
        return true;
    }
    if (width > 1 && t->strides[t->dim - 1] != 1) {
        return false;
    }
    bool found = false;
    int64_t next = 0; /* the stride that continues what was walked so far */
    for (int64_t i = t->dim - 2; i >= 0; i--) {
        if (t->sizes[i] == 1) {
            continue;
        }
        if (!found) {
            *stride = t->strides[i];
            found = true;
        } else if (t->strides[i] != next) {
            return false;
        }
        next = t->strides[i] * t->sizes[i];
    }
    return true;
}

bool tensor_is_inner_contiguous(const tensor *t, int64_t count) {
    if (t->numel == 0) {
        return true;
    }
    int64_t stride = 1;
    for (int64_t i = t->dim - 1; i >= 0 && i >= t->dim - count; i--) {
        if (t->sizes[i] != 1 && t->strides[i] != stride) {
            return false;
        }
        stride *= t->sizes[i];
    }
    return true;
}

bool tensor_make_contiguous(error *e, tensor *t) { return tensor_is_contiguous(t) || tensor_make_copy(e, t); }

bool tensor_make_rows(error *e, tensor *t) {
    int64_t stride;
    return tensor_has_rows(t, &stride) || tensor_make_copy(e, t);
}

bool tensor_make_inner_contiguous(error *e, tensor *t, int64_t count) {
    return tensor_is_inner_contiguous(t, count) || tensor_make_copy(e, t);
}

bool tensor_expand(tensor *t, const shape *s, view *storage) {
    const int64_t missing = s->dim - t->dim;
    if (missing < 0) {
        return false;
    }
    for (int64_t i = 0; i < s->dim; i++) {
        const int64_t size = i < missing ? 1 : t->sizes[i - missing];
        if (s->sizes[i] < 0 || (size != 1 && size != s->sizes[i])) {
            return false;
        }
        storage->sizes[i] = s->sizes[i];
        storage->strides[i] = size == 1 ? 0 : t->strides[i - missing];
    }
    t->sizes = storage->sizes;
    t->strides = storage->strides;
    t->dim = s->dim;
    bool exceeds = false; /* then no tensor has these sizes, and 0 will do */
    t->numel = product_i64(&exceeds, t->sizes, t->dim);
    return true;
}

/* How two dimensions are ordered in memory: negative when `a` lies within `b`, positive the other way round, 0 when
 * their strides do not say. */
static int order_in_memory(const tensor *t, int64_t a, int64_t b) {
    const int64_t stride_a = t->strides[a], stride_b = t->strides[b];
    if (stride_a == 0 || stride_b == 0) {
        return 0;
    }
    if (stride_a != stride_b) {
        return stride_a < stride_b ? -1 : 1;
    }
    return t->sizes[a] > t->sizes[b] ? 1 : 0; /* the larger size outside */
}

/* The dimensions from the innermost to the outermost: those of a contiguous tensor, sorted by insertion. A dimension
 * whose place is open stays where it is, and others move past it. */
static void sort_dims(const tensor *t, int64_t *dims) {
    for (int64_t i = 0; i < t->dim; i++) {
        dims[i] = t->dim - 1 - i;
    }
    for (int64_t i = 1; i < t->dim; i++) {
        int64_t moving = i;
        for (int64_t j = i - 1; j >= 0; j--) {
            const int order = order_in_memory(t, dims[j], dims[moving]);
            if (order < 0) {
                break;
            }
            if (order > 0) {
                const int64_t outer = dims[j];
                dims[j] = dims[moving];
                dims[moving] = outer;
                moving = j;
            }
        }
    }
}

/* Whether sizes and strides are those of a tensor without gaps and overlaps, as `dense` is. */
static bool has_strides(const tensor *t, const int64_t *dense) {
    for (int64_t i = 0; i < t->dim; i++) {
        if (t->sizes[i] > 1 && t->strides[i] != dense[i]) {
            return false;
        }
    }
    return true;
}

bool tensor_empty_like(error *e, tensor *t, const tensor *like, dtype d, device where) {
    shape s = {.dim = 0};
    int64_t dims[MAX_DIMS], dense[MAX_DIMS];
    if (!shape_add(e, &s, like->sizes, like->dim)) {
        return false;
    }
    if (like->numel == 0) { /* sizes beside one of 0 may have any product */
        return tensor_empty_strided(e, t, &s, like->strides, 0, d, where);
    }
    sort_dims(like, dims);
    int64_t stride = 1;
    for (int64_t i = 0; i < like->dim; i++) {
        dense[dims[i]] = stride;
        stride *= like->sizes[dims[i]];
    }
    const bool kept = has_strides(like, dense);
    return tensor_empty_strided(e, t, &s, kept ? like->strides : dense, like->numel, d, where);
}

static void swap_last(int64_t *numbers, int64_t count) {
    const int64_t last = numbers[count - 1];
    numbers[count - 1] = numbers[count - 2];
    numbers[count - 2] = last;
}

bool tensor_empty_transposed(error *e, tensor *t, const char *name, const shape *s, dtype d, device where) {
    int64_t strides[MAX_DIMS];
    shape swapped = *s;
    swap_last(swapped.sizes, swapped.dim);
    const int64_t numel = contiguous_strides(e, name, &swapped, strides);
    if (numel < 0) {
        return false;
    }
    swap_last(strides, s->dim);
    return tensor_empty_strided(e, t, s, strides, numel, d, where);
}

int64_t tensor_row_stride(const tensor *t) {
    int64_t stride = 0;
    if (given(t)) {
        tensor_has_rows(t, &stride);
    }
    return stride;
}

void tensor_copy_sizes(const tensor *t, int64_t *sizes) {
    if (t->dim > 0) {
        memcpy(sizes, t->sizes, (size_t)t->dim * sizeof *sizes);
    }
}

void tensor_copy_strides(const tensor *t, int64_t *strides) {
    if (t->dim > 0) {
        memcpy(strides, t->strides, (size_t)t->dim * sizeof *strides);
    }
}

bool strides_aligned(const tensor *t, int64_t bytes) {
    bool in_row = false; /* the dimension that rows lie along was met */
    for (int64_t i = t->dim - 1; i >= 0; i--) {
        if (t->sizes[i] <= 1) {
            continue;
        }
        if (!in_row && t->strides[i] == 1) {
            in_row = true;
        } else if (!stride_aligned(t, t->strides[i], bytes)) {
            return false;
        }
    }
    return true;
}

const char *strides_text(error *e, const tensor *t) {
    char *const text = error_value(e); /* TEXT_DIMS numbers of 20 digits fit */
    const int64_t shown = t->dim < TEXT_DIMS ? t->dim : TEXT_DIMS;
    size_t used = 0;
    text[used++] = '(';
    for (int64_t i = 0; i < shown; i++) {
        used += (size_t)snprintf(text + used, ERROR_VALUE - used, i > 0 ? ", %" PRId64 : "%" PRId64, t->strides[i]);
    }
    snprintf(text + used, ERROR_VALUE - used, "%s)", shown < t->dim ? ", ..." : t->dim == 1 ? "," : "");
    return text;
}
