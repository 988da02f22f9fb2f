#include "list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boxed.h"
#include "device/list_piece.h"
#include "layout.h"
#include "overlap.h"
#include "written.h"

/* Moves the handles of all elements from PyTorch's list to `at`; without memory for them they are only deleted. */
static bool take_elements(error *e, StableListHandle handle, bool optional, size_t count, tensor *at) {
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        StableIValue element;
        tensor unkept = {.handle = NULL};
        if (torch_list_get_item(handle, i, &element) != 0) {
            ok = fail_abi(e, "torch_list_get_item"); /* those behind it are to be deleted as well */
            continue;
        }
        if (!optional || take_optional(&element)) {
            tensor_take(at != NULL ? &at[i] : &unkept, element);
        }
        tensor_release(e, &unkept);
    }
    return ok;
}

static bool read_list(error *e, StableListHandle handle, bool optional, tensor_list *l, int64_t rows) {
    size_t count;
    CHECK_ABI(e, torch_list_size, handle, &count);
    tensor *const at = calloc(2 * count + 1, sizeof *at);
    void **const data = calloc(count * (size_t)(1 + rows) + 1, sizeof *data);
    if (at == NULL || data == NULL) {
        free(at);
        free(data);
        take_elements(e, handle, optional, count, NULL);
        return fail(e, "out of memory for a list of %zu tensors", count);
    }
    *l = (tensor_list){
        .count = (int64_t)count,
        .at = at,
        .aside = at + count,
        .data = data,
        .numbers = (int64_t *)(data + count),
        .rows = rows,
    };
    const bool ok = take_elements(e, handle, optional, count, at);
    while (l->first < l->count && !given(&at[l->first])) {
        l->first++;
    }
    return ok;
}

static bool take(error *e, StableIValue value, bool optional, tensor_list *l, int64_t rows) {
    _Static_assert(sizeof(void *) == sizeof(int64_t), "pointers and numbers share a block");
    const StableListHandle handle = (StableListHandle)(uintptr_t)value;
    const bool ok = read_list(e, handle, optional, l, rows);
    CHECK_ABI(e, torch_delete_list, handle);
    return ok;
}

bool list_take(error *e, StableIValue value, tensor_list *l, int64_t rows) { return take(e, value, false, l, rows); }

bool list_take_optionals(error *e, StableIValue value, tensor_list *l, int64_t rows) {
    return take(e, value, true, l, rows);
}

void list_release_tensors(error *e, tensor_list *l) {
    for (int64_t i = 0; i < l->count; i++) {
        tensor_release(e, &l->at[i]);
        tensor_release(e, &l->aside[i]);
    }
    tensor_release(e, &l->table);
    free(l->at);
    free(l->data);
    *l = (tensor_list){0};
}

bool list_read(error *e, tensor_list *l, const char *name) {
    char element[128];
    for (int64_t i = 0; i < l->count; i++) {
        snprintf(element, sizeof element, "%s[%" PRId64 "]", name, i);
        if (!tensor_read(e, &l->at[i], element)) {
            return false;
        }
    }
    return true;
}

bool list_const_data(error *e, const tensor_list *l) {
    for (int64_t i = 0; i < l->count; i++) {
        const void *data;
        if (!tensor_const_data(e, &l->at[i], &data)) {
            return false;
        }
        l->data[i] = (void *)(uintptr_t)data; /* bodies see a pointer to const */
    }
    return true;
}

bool list_mutable_data(error *e, const tensor_list *l) {
    for (int64_t i = 0; i < l->count; i++) {
        if (!tensor_mutable_data(e, &l->at[i], &l->data[i])) {
            return false;
        }
    }
    return true;
}

bool list_resolve(error *e, tensor_list *l) {
    for (int64_t i = 0; i < l->count; i++) {
        if (!tensor_resolve(e, &l->at[i])) {
            return false;
        }
    }
    return true;
}

bool list_make_contiguous(error *e, tensor_list *l) {
    for (int64_t i = 0; i < l->count; i++) {
        if (!tensor_make_contiguous(e, &l->at[i])) {
            return false;
        }
    }
    return true;
}

bool list_set_aside(error *e, tensor_list *l, bool copied) {
    for (int64_t i = 0; i < l->count; i++) {
        if (!written_set_aside(e, &l->at[i], &l->aside[i], tensor_is_contiguous(&l->at[i]), copied)) {
            return false;
        }
    }
    return true;
}

bool list_return(error *e, const tensor_list *l) {
    for (int64_t i = 0; i < l->count; i++) {
        if (!written_return(e, &l->at[i], &l->aside[i])) {
            return false;
        }
    }
    return true;
}

bool list_clear(error *e, const tensor_list *l) {
    for (int64_t i = 0; i < l->count; i++) {
        if (!tensor_zero(e, &l->at[i])) {
            return false;
        }
    }
    return true;
}

bool list_to_device(error *e, const cuda_scope *scope, cuda_kernel *store, device where, tensor_list *l) {
    if (!list_given(l)) {
        return true;
    }
    const int64_t count = l->count * (1 + l->rows);
    const shape s = {.dim = 1, .sizes = {count}};
    void *data;
    if (!tensor_empty(e, &l->table, "table of a list", &s, DTYPE_INT64, where) ||
        !tensor_mutable_data(e, &l->table, &data)) {
        return false;
    }
    l->device_data = data;
    l->device_numbers = (int64_t *)data + l->count;
    for (int64_t done = 0; done < count; done += LIST_PIECE_WORDS) {
        const int64_t left = count - done;
        list_piece piece = {
            .to = (int64_t *)data + done,
            .count = left < LIST_PIECE_WORDS ? left : LIST_PIECE_WORDS,
        };
        memcpy(piece.words, l->data + done, (size_t)piece.count * sizeof *piece.words);
        const cuda_plan plan = {store, {.grid = {1, 1, 1}, .block = {LIST_PIECE_WORDS, 1, 1}}};
        if (!cuda_run(e, scope, &plan, 1, &piece)) {
            return false;
        }
    }
    return true;
}

bool list_require_pinned(error *e, const char *name, const tensor_list *l) {
    char element[128];
    for (int64_t i = 0; i < l->count; i++) {
        snprintf(element, sizeof element, "%s[%" PRId64 "]", name, i);
        if (!cuda_require_pinned(e, element, l->data[i])) {
            return false;
        }
    }
    return true;
}

int64_t list_numel(const tensor_list *l) {
    int64_t numel = 0;
    for (int64_t i = 0; i < l->count; i++) {
        numel += l->at[i].numel;
    }
    return numel;
}

int64_t list_bytes(const tensor_list *l) {
    int64_t bytes = 0;
    for (int64_t i = 0; i < l->count; i++) {
        bytes += tensor_bytes(&l->at[i]);
    }
    return bytes;
}

bool list_aligned(const tensor_list *l, int64_t bytes) {
    for (int64_t i = 0; i < l->count; i++) {
        if ((uintptr_t)l->data[i] % (uintptr_t)bytes != 0) {
            return false;
        }
    }
    return true;
}

/* ---- overlap */

/* Where the elements of a tensor lie, from the first byte to behind the last. */
typedef struct extent {
    uintptr_t start, end;
    const tensor *t;
    int64_t list, index;
} extent;

static bool read_extents(error *e, const tensor *tensors, int64_t count, int64_t list, extent *found) {
    for (int64_t i = 0; i < count; i++) {
        const tensor *const t = &tensors[i];
        const void *data;
        if (!tensor_const_data(e, t, &data)) {
            return false;
        }
        uintptr_t end = (uintptr_t)data;
        for (int64_t d = 0; d < t->dim && t->numel > 0; d++) {
            end += (uintptr_t)((t->sizes[d] - 1) * t->strides[d] * dtype_size(t->dtype));
        }
        end += t->numel > 0 ? (uintptr_t)dtype_size(t->dtype) : 0;
        found[i] = (extent){(uintptr_t)data, end, t, list, i};
    }
    return true;
}

static int by_start(const void *one, const void *other) {
    const uintptr_t a = ((const extent *)one)->start, b = ((const extent *)other)->start;
    return a < b ? -1 : a > b;
}

/* Only tensors whose extents meet can overlap: those that start before this one ends. */
static bool find_overlap(error *e, const extent *extents, int64_t count, bool same, int64_t *i, int64_t *j) {
    for (int64_t k = 0; k < count; k++) {
        for (int64_t m = k + 1; m < count && extents[m].start < extents[k].end; m++) {
            bool found = false;
            if (same || extents[k].list != extents[m].list) {
                if (!tensors_overlap(e, extents[k].t, extents[m].t, &found)) {
                    return false;
                }
            }
            if (found) {
                const bool swapped = same ? extents[k].index < extents[m].index : extents[k].list > extents[m].list;
                *i = extents[swapped ? m : k].index;
                *j = extents[swapped ? k : m].index;
                return true;
            }
        }
    }
    return true;
}

bool find_list_overlap(error *e, const tensor *a, int64_t count_a, const tensor *b, int64_t count_b, int64_t *i,
                       int64_t *j) {
    const bool same = a == b;
    const int64_t count = same ? count_a : count_a + count_b;
    extent *const extents = calloc((size_t)count + 1, sizeof *extents);
    *i = *j = -1;
    CHECK(e, extents != NULL, "out of memory for a list of %" PRId64 " tensors", count);
    bool ok = read_extents(e, a, count_a, 0, extents) && (same || read_extents(e, b, count_b, 1, extents + count_a));
    if (ok) {
        qsort(extents, (size_t)count, sizeof *extents, by_start);
        ok = find_overlap(e, extents, count, same, i, j);
    }
    free(extents);
    return ok;
}
