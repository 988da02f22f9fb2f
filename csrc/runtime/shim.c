#include "shim.h"

#include <stdio.h>
#include <string.h>

#include "tensor.h"
#include "view_bits.h"

static _Thread_local char last_error[ERROR_TEXT];

const char *shim_error(void) { return last_error; }

/* ---- Arguments */

static bool push(shim *s, shim_kind kind, StableIValue value) {
    s->kinds[s->count] = kind;
    s->boxed[s->count] = false;
    s->stack[s->count++] = value;
    return true;
}

/* What a view stands for takes the place of its handle; `i` is the place in a list. One that is written cannot be a
 * view: its elements then lie elsewhere. */
static bool resolve(error *e, const char *name, int64_t i, bool written, AtenTensorHandle *handle) {
    tensor t = {.handle = *handle};
    const void *before = NULL, *after = NULL;
    const bool ok = tensor_read_element(e, &t, name, i) && (!written || tensor_const_data(e, &t, &before)) &&
                    tensor_resolve(e, &t) && (!written || tensor_const_data(e, &t, &after));
    if (ok && before != after) {
        fail(e,
             "%s: is written, and a view that negates or conjugates what it lies on: a C shim cannot write through it",
             tensor_text(e, name, i));
    }
    if (e->set) {
        tensor_release(e, &t);
    }
    *handle = t.handle;
    return !e->set;
}

/* A handle of the call's own. */
static bool own(error *e, const char *name, int64_t i, bool written, AtenTensorHandle from, AtenTensorHandle *handle) {
    CHECK_ABI(e, aoti_torch_new_tensor_handle, from, handle);
    return !view_bits(*handle) || resolve(e, name, i, written, handle);
}

static bool push_tensor(shim *s, const char *name, bool written, AtenTensorHandle from) {
    AtenTensorHandle handle;
    return own(&s->e, name, NO_ELEMENT, written, from, &handle) &&
           push(s, SHIM_TENSOR, (StableIValue)(uintptr_t)handle);
}

bool shim_tensor(shim *s, const char *name, AtenTensorHandle from) { return push_tensor(s, name, false, from); }
bool shim_written(shim *s, const char *name, AtenTensorHandle from) { return push_tensor(s, name, true, from); }

bool shim_float(shim *s, double value) {
    StableIValue slot;
    memcpy(&slot, &value, sizeof slot);
    return push(s, SHIM_NUMBER, slot);
}

bool shim_int(shim *s, int64_t value) { return push(s, SHIM_NUMBER, (StableIValue)value); }
bool shim_bool(shim *s, int32_t value) { return push(s, SHIM_NUMBER, value != 0); }
bool shim_dtype(shim *s, int32_t value) { return push(s, SHIM_NUMBER, (StableIValue)(uint32_t)value); }

bool shim_text(shim *s, const char *text) {
    StringHandle handle;
    CHECK_ABI(&s->e, torch_new_string_handle, text, strlen(text), &handle);
    return push(s, SHIM_TEXT, (StableIValue)(uintptr_t)handle);
}

/* ---- Lists */

/* A list on the stack, still empty; what is put into it after that is dropped with it. */
static bool push_list(shim *s, shim_kind kind, int64_t count, StableListHandle *list) {
    CHECK_ABI(&s->e, torch_new_list_reserve_size, (size_t)count, list);
    return push(s, kind, (StableIValue)(uintptr_t)*list);
}

static bool append(error *e, StableListHandle list, StableIValue element) {
    CHECK_ABI(e, torch_list_push_back, list, element);
    return true;
}

static bool append_tensor(shim *s, StableListHandle list, const char *name, int64_t i, bool written,
                          AtenTensorHandle from) {
    AtenTensorHandle handle;
    if (!own(&s->e, name, i, written, from, &handle)) {
        return false;
    }
    if (!append(&s->e, list, (StableIValue)(uintptr_t)handle)) {
        aoti_torch_delete_tensor_object(handle);
        return false;
    }
    return true;
}

/* One that may be absent stands in a box on the heap, which the list's reader deletes. */
static bool append_some(shim *s, StableListHandle list, const char *name, int64_t i, bool written,
                        const AtenTensorHandle *from) {
    AtenTensorHandle handle;
    if (from == NULL) {
        return append(&s->e, list, 0);
    }
    if (!own(&s->e, name, i, written, *from, &handle)) {
        return false;
    }
    StableIValue *const box = _Znwm(sizeof *box);
    *box = (StableIValue)(uintptr_t)handle;
    if (!append(&s->e, list, (StableIValue)(uintptr_t)box)) {
        _ZdlPv(box);
        aoti_torch_delete_tensor_object(handle);
        return false;
    }
    return true;
}

static bool push_tensors(shim *s, const char *name, bool written, const AtenTensorHandle *tensors, int64_t count) {
    StableListHandle list;
    bool ok = push_list(s, SHIM_TENSORS, count, &list);
    for (int64_t i = 0; ok && i < count; i++) {
        ok = append_tensor(s, list, name, i, written, tensors[i]);
    }
    return ok;
}

static bool push_some(shim *s, const char *name, bool written, const AtenTensorHandle *const *tensors, int64_t count) {
    StableListHandle list;
    bool ok = push_list(s, SHIM_SOME_TENSORS, count, &list);
    for (int64_t i = 0; ok && i < count; i++) {
        ok = append_some(s, list, name, i, written, tensors[i]);
    }
    return ok;
}

bool shim_tensors(shim *s, const char *name, const AtenTensorHandle *tensors, int64_t count) {
    return push_tensors(s, name, false, tensors, count);
}

bool shim_some_tensors(shim *s, const char *name, const AtenTensorHandle *const *tensors, int64_t count) {
    return push_some(s, name, false, tensors, count);
}

bool shim_written_tensors(shim *s, const char *name, const AtenTensorHandle *tensors, int64_t count) {
    return push_tensors(s, name, true, tensors, count);
}

bool shim_some_written_tensors(shim *s, const char *name, const AtenTensorHandle *const *tensors, int64_t count) {
    return push_some(s, name, true, tensors, count);
}

bool shim_floats(shim *s, const double *values, int64_t count) {
    StableListHandle list;
    bool ok = push_list(s, SHIM_LIST, count, &list);
    for (int64_t i = 0; ok && i < count; i++) {
        StableIValue element;
        memcpy(&element, &values[i], sizeof element);
        ok = append(&s->e, list, element);
    }
    return ok;
}

bool shim_ints(shim *s, const int64_t *values, int64_t count) {
    StableListHandle list;
    bool ok = push_list(s, SHIM_LIST, count, &list);
    for (int64_t i = 0; ok && i < count; i++) {
        ok = append(&s->e, list, (StableIValue)values[i]);
    }
    return ok;
}

bool shim_bools(shim *s, const int32_t *values, int64_t count) {
    StableListHandle list;
    bool ok = push_list(s, SHIM_LIST, count, &list);
    for (int64_t i = 0; ok && i < count; i++) {
        ok = append(&s->e, list, values[i] != 0);
    }
    return ok;
}

/* ---- Optionals */

bool shim_none(shim *s) { return push(s, SHIM_NUMBER, 0); }

bool shim_box(shim *s) {
    const int i = s->count - 1;
    s->boxes[i] = s->stack[i];
    s->boxed[i] = true;
    s->stack[i] = (StableIValue)(uintptr_t)&s->boxes[i] | LENT_MARK;
    return true;
}

/* ---- What is left of a call that could not begin */

static void drop_elements(StableListHandle list, bool optional) {
    size_t count = 0;
    torch_list_size(list, &count);
    for (size_t i = 0; i < count; i++) {
        StableIValue element;
        if (torch_list_get_item(list, i, &element) == 0 && (!optional || take_optional(&element))) {
            aoti_torch_delete_tensor_object((AtenTensorHandle)(uintptr_t)element);
        }
    }
}

void shim_drop(shim *s) {
    while (s->count-- > 0) {
        const int i = s->count;
        void *const held = (void *)(uintptr_t)(s->boxed[i] ? s->boxes[i] : s->stack[i]);
        switch (s->kinds[i]) {
        case SHIM_NUMBER:
            break;
        case SHIM_TENSOR:
            aoti_torch_delete_tensor_object(held);
            break;
        case SHIM_TENSORS:
        case SHIM_SOME_TENSORS:
            drop_elements(held, s->kinds[i] == SHIM_SOME_TENSORS);
            torch_delete_list(held);
            break;
        case SHIM_LIST:
            torch_delete_list(held);
            break;
        case SHIM_TEXT:
            torch_delete_string(held);
            break;
        }
    }
}

/* ---- Results */

void shim_give(shim *s, int i, AtenTensorHandle *ret) {
    if (s->e.set) {
        return;
    }
    const AtenTensorHandle handle = (AtenTensorHandle)(uintptr_t)s->stack[i];
    if (ret != NULL) {
        *ret = handle;
    } else {
        aoti_torch_delete_tensor_object(handle);
    }
}

AOTITorchError shim_end(const shim *s) {
    if (!s->e.set) {
        return 0;
    }
    memcpy(last_error, s->e.text, sizeof last_error);
    return 1;
}

/* ---- The table */

shim_function *shim_find(const shim_entry *entries, size_t count, const char *op, const char *schema,
                         const char *missing) {
    const char *have = NULL;
    if (missing != NULL) {
        snprintf(last_error, sizeof last_error, "%s: %s", op, missing);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (strcmp(entries[i].schema, schema) == 0) {
            return entries[i].call;
        }
        if (strcmp(entries[i].op, op) == 0) {
            have = entries[i].schema;
        }
    }
    if (have != NULL) {
        snprintf(last_error, sizeof last_error,
                 "%s: the model was compiled for %s, and the library that is loaded has %s: compile the model again",
                 op, schema, have);
    } else {
        snprintf(last_error, sizeof last_error, "%s: the library that is loaded has no such operator", op);
    }
    return NULL;
}
