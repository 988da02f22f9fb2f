#include "list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arith.h"
#include "boxed.h"
#include "device/list_piece.h"
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

bool list_hold(tensor_list *l, int64_t count, int64_t rows, int64_t tables) {
    tensor *const at = calloc(2 * (size_t)count + 1, sizeof *at);
    void **const data = calloc((size_t)(count * (1 + rows + tables)) + 1, sizeof *data);
    if (at == NULL || data == NULL) {
        free(at);
        free(data);
        return false;
    }
    *l = (tensor_list){
        .count = count,
        .at = at,
        .aside = at + count,
        .data = data,
        .numbers = (int64_t *)(data + count),
        .rows = rows,
        .tables = tables,
    };
    l->strides = (const int64_t **)(l->numbers + count * rows);
    l->sizes = l->strides + (tables > 1 ? count : 0);
    return true;
}

static bool read_list(error *e, StableListHandle handle, bool optional, tensor_list *l) {
    size_t count;
    CHECK_ABI(e, torch_list_size, handle, &count);
    if (!list_hold(l, (int64_t)count, l->rows, l->tables)) {
        take_elements(e, handle, optional, count, NULL);
        return fail(e, "out of memory for a list of %zu tensors", count);
    }
    const bool ok = take_elements(e, handle, optional, count, l->at);
    while (l->first < l->count && !given(&l->at[l->first])) {
        l->first++;
    }
    return ok;
}

static bool take(error *e, StableIValue value, bool optional, tensor_list *l) {
    _Static_assert(sizeof(void *) == sizeof(int64_t), "pointers and numbers share a block");
    const StableListHandle handle = (StableListHandle)(uintptr_t)value;
    const bool ok = read_list(e, handle, optional, l);
    CHECK_ABI(e, torch_delete_list, handle);
    return ok;
}

bool list_take(error *e, StableIValue value, tensor_list *l, int64_t rows, int64_t tables) {
    *l = (tensor_list){.rows = rows, .tables = tables};
    return take(e, value, false, l);
}

bool list_take_optionals(error *e, StableIValue value, tensor_list *l, int64_t rows, int64_t tables) {
    *l = (tensor_list){.rows = rows, .tables = tables};
    return take(e, value, true, l);
}

void list_release_tensors(error *e, tensor_list *l) {
    for (int64_t i = 0; i < l->count; i++) {
        tensor_release(e, &l->at[i]);
        tensor_release(e, &l->aside[i]);
    }
    tensor_release(e, &l->table);
    free(l->at);
    free(l->views);
    free(l->data);
    *l = (tensor_list){0};
}

bool list_read(error *e, tensor_list *l, const char *name) {
    for (int64_t i = 0; i < l->count; i++) {
        if (!tensor_read_element(e, &l->at[i], name, i)) {
            return false;
        }
    }
    return true;
}

bool list_hold_views(error *e, tensor_list *l, const char *name) {
    if (l->views == NULL) {
        l->views = calloc((size_t)l->count, sizeof *l->views);
    }
    CHECK(e, l->views != NULL, "%s: out of memory for a list of %" PRId64 " tensors", name, l->count);
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
        tensor *const t = &l->at[i];
        shape s = {.dim = t->dim};
        if (l->views != NULL && given(t)) { /* what is resolved is read anew, with sizes of its own */
            memcpy(s.sizes, t->sizes, (size_t)t->dim * sizeof *s.sizes);
        }
        if (!tensor_resolve(e, t)) {
            return false;
        }
        if (l->views != NULL && given(t)) {
            tensor_expand(t, &s, &l->views[i]);
        }
    }
    return true;
}

static bool lies(const tensor *t, list_policy policy) {
    switch (policy) {
    case LIST_ROWS:
        return tensor_has_any_rows(t);
    case LIST_INNER:
        return tensor_is_inner_contiguous(t, 1);
    case LIST_INNER_TWO:
        return tensor_is_inner_contiguous(t, 2);
    case LIST_CONTIGUOUS:
        break;
    }
    return tensor_is_contiguous(t);
}

bool list_arrange(error *e, tensor_list *l, list_policy policy) {
    for (int64_t i = 0; i < l->count; i++) {
        if (!lies(&l->at[i], policy) && !tensor_make_copy(e, &l->at[i])) {
            return false;
        }
    }
    return true;
}

bool list_set_aside(error *e, tensor_list *l, list_policy policy, bool copied) {
    for (int64_t i = 0; i < l->count; i++) {
        if (!written_set_aside(e, &l->at[i], &l->aside[i], lies(&l->at[i], policy), copied)) {
            return false;
        }
    }
    return true;
}

void list_see_strides(tensor_list *l) {
    for (int64_t i = 0; i < l->count; i++) {
        l->strides[i] = l->at[i].strides;
        if (l->tables > 1) {
            l->sizes[i] = l->at[i].sizes;
            l->numbers[(l->rows - 1) * l->count + i] = l->at[i].dim;
        }
    }
}

void list_see_row_strides(tensor_list *l) {
    l->by_rows = true;
    for (int64_t i = 0; i < l->count; i++) {
        int64_t *const number = &l->numbers[(l->rows - 1) * l->count + i];
        *number = tensor_row_stride(&l->at[i]);
        l->strides[i] = number;
    }
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
        if (!tensor_clear(e, &l->at[i])) {
            return false;
        }
    }
    return true;
}

/* Words that hold one strides or sizes of each tensor; those from row to row are among the numbers. */
static int64_t packed_words(const tensor_list *l) {
    int64_t words = 0;
    for (int64_t i = 0; i < l->count && !l->by_rows; i++) {
        words += l->at[i].dim;
    }
    return words * l->tables;
}

/* Puts into `words` what is to stand at `at` on the GPU: the block of the host, in which pointers to strides and sizes
 * are such to copies of these behind it. */
static void lay_out(const tensor_list *l, const int64_t *at, int64_t *words) {
    const int64_t fixed = l->count * (1 + l->rows);
    int64_t next = fixed + l->count * l->tables;
    memcpy(words, l->data, (size_t)fixed * sizeof *words);
    for (int64_t k = 0; k < l->count * l->tables; k++) {
        const tensor *const t = &l->at[k % l->count];
        const int64_t *shown = at + fixed - l->count + k; /* in the last row of numbers */
        if (!l->by_rows) {
            shown = at + next;
            for (int64_t d = 0; d < t->dim; d++) {
                words[next++] = l->strides[k][d];
            }
        }
        words[fixed + k] = (int64_t)(intptr_t)shown;
    }
}

static bool store_words(error *e, const cuda_scope *scope, cuda_kernel *store, const int64_t *words, int64_t count,
                        int64_t *to) {
    for (int64_t done = 0; done < count; done += LIST_PIECE_WORDS) {
        const int64_t left = count - done;
        list_piece piece = {
            .to = to + done,
            .count = left < LIST_PIECE_WORDS ? left : LIST_PIECE_WORDS,
        };
        memcpy(piece.words, words + done, (size_t)piece.count * sizeof *piece.words);
        const cuda_plan plan = {store, {.grid = {1, 1, 1}, .block = {LIST_PIECE_WORDS, 1, 1}}};
        if (!cuda_run(e, scope, &plan, 1, &piece)) {
            return false;
        }
    }
    return true;
}

bool list_to_device(error *e, const cuda_scope *scope, cuda_kernel *store, device where, tensor_list *l) {
    if (!list_given(l)) {
        return true;
    }
    const int64_t count = l->count * (1 + l->rows + l->tables) + packed_words(l);
    const shape s = {.dim = 1, .sizes = {count}};
    void *data;
    if (!tensor_empty(e, &l->table, "table of a list", &s, DTYPE_INT64, where) ||
        !tensor_mutable_data(e, &l->table, &data)) {
        return false;
    }
    l->device_data = data;
    l->device_numbers = (int64_t *)data + l->count;
    l->device_strides = (const int64_t **)(l->device_numbers + l->count * l->rows);
    l->device_sizes = l->device_strides + (l->tables > 1 ? l->count : 0);
    int64_t *const words = calloc((size_t)count + 1, sizeof *words);
    CHECK(e, words != NULL, "out of memory for a list of %" PRId64 " tensors", l->count);
    lay_out(l, data, words);
    const bool ok = store_words(e, scope, store, words, count, data);
    free(words);
    return ok;
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

int64_t list_numel(bool *overflow, const tensor_list *l) {
    int64_t numel = 0;
    for (int64_t i = 0; i < l->count; i++) {
        numel = add_i64(overflow, numel, l->at[i].numel);
    }
    return numel;
}

bool list_empty(const tensor_list *l) {
    for (int64_t i = 0; i < l->count; i++) {
        if (l->at[i].numel != 0) {
            return false;
        }
    }
    return true;
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

bool list_widths_aligned(const tensor_list *l, int64_t bytes) {
    for (int64_t i = 0; i < l->count; i++) {
        const tensor *const t = &l->at[i];
        if (given(t) && !stride_aligned(t, t->sizes[t->dim - 1], bytes)) {
            return false;
        }
    }
    return true;
}

bool list_strides_aligned(const tensor_list *l, int64_t bytes) {
    for (int64_t i = 0; i < l->count; i++) {
        if (!strides_aligned(&l->at[i], bytes)) {
            return false;
        }
    }
    return true;
}
