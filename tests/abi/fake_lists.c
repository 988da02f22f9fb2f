/* Lists, strings, and the boxes of what may be absent. */
#include <stdlib.h>
#include <string.h>

#include "fake_objects.h"

struct StableListOpaque {
    size_t count;
    size_t room;     /* of a list that is being filled */
    bool of_tensors; /* each belongs to who asks for it, and to nobody else */
    bool boxed;      /* each of these is in a box, or absent */
    bool unknown;    /* its length could not be told, so that nobody can ask for them */
    StableIValue elements[];
};

struct StringOpaque {
    size_t length;
    char data[];
};

StringHandle fake_new_string(const char *data, size_t length) {
    StringHandle string = fake_allocate(FAKE_STRING, sizeof *string + length + 1);
    string->length = length;
    memcpy(string->data, data, length);
    string->data[length] = '\0';
    return string;
}

StableListHandle fake_new_list(const StableIValue *elements, size_t count, bool of_tensors, bool boxed) {
    StableListHandle list = fake_allocate(FAKE_LIST, sizeof *list + count * sizeof *elements);
    list->count = count;
    list->of_tensors = of_tensors;
    list->boxed = boxed;
    list->unknown = false;
    for (size_t i = 0; i < count; i++) {
        list->elements[i] = elements[i];
    }
    return list;
}

StableIValue *fake_new_box(StableIValue value) {
    StableIValue *const box = fake_allocate(FAKE_BOX, sizeof *box);
    *box = value;
    return box;
}

void _ZdlPv(void *box) {
    if (box != NULL) {
        fake_release(FAKE_BOX, box);
    }
}

void *_Znwm(size_t size) { return fake_allocate(FAKE_BOX, size); }

static void delete_element(StableListHandle list, size_t index) {
    StableIValue value = list->elements[index];
    StableIValue *const box = list->boxed ? (StableIValue *)(uintptr_t)value : NULL;
    if (box != NULL) {
        value = *box;
        _ZdlPv(box);
    }
    if (value != 0) {
        fake_delete_tensor((AtenTensorHandle)(uintptr_t)value);
    }
}

static const char *made_lists = "";

void fake_made_lists(const char *kinds) { made_lists = kinds; }

AOTITorchError torch_new_list_reserve_size(size_t size, StableListHandle *ret) {
    const char kind = *made_lists != '\0' ? *made_lists++ : 't';
    STEP("torch_new_list_reserve_size")
    *ret = fake_allocate(FAKE_LIST, sizeof **ret + size * sizeof(StableIValue));
    **ret = (struct StableListOpaque){.room = size, .of_tensors = kind != 'n', .boxed = kind == 'b'};
    return 0;
}

AOTITorchError torch_list_push_back(StableListHandle list, StableIValue element) {
    STEP("torch_list_push_back")
    if (list->count == list->room || (list->of_tensors && !list->boxed && element == 0)) {
        fake_stop("a list got more tensors than it was made for, or none");
    }
    list->elements[list->count++] = element;
    return 0;
}

/* What PyTorch does with a list that an operator returns. */
void fake_delete_results(StableListHandle list) {
    for (size_t i = 0; i < list->count; i++) {
        delete_element(list, i);
    }
    fake_release(FAKE_LIST, list);
}

const void *fake_list_values(StableIValue slot, bool given, bool narrow, int64_t *count) {
    const StableListHandle list = (StableListHandle)(uintptr_t)slot;
    *count = given ? (int64_t)list->count : 0;
    if (!given || list->count == 0) {
        return NULL;
    }
    int32_t *const values = malloc(list->count * sizeof list->elements[0]);
    if (values == NULL) {
        fake_stop("out of memory for a list");
    }
    memcpy(values, list->elements, list->count * sizeof list->elements[0]);
    for (size_t i = 0; narrow && i < list->count; i++) {
        values[i] = (int32_t)list->elements[i];
    }
    return values;
}

void fake_list_end(StableIValue slot, bool given, const void *values) {
    const StableListHandle list = (StableListHandle)(uintptr_t)slot;
    free((void *)(uintptr_t)values);
    for (size_t i = 0; given && list->of_tensors && i < list->count; i++) {
        delete_element(list, i);
    }
    if (given) {
        fake_release(FAKE_LIST, list);
    }
}

const char *fake_text(StableIValue slot) { return slot != 0 ? ((StringHandle)(uintptr_t)slot)->data : NULL; }

void fake_text_end(StableIValue slot) {
    if (slot != 0) {
        fake_release(FAKE_STRING, (StringHandle)(uintptr_t)slot);
    }
}

void fake_tensor_end(StableIValue slot) {
    if (slot != 0) {
        fake_delete_tensor((AtenTensorHandle)(uintptr_t)slot);
    }
}

AOTITorchError torch_list_size(StableListHandle list, size_t *ret_size) {
    list->unknown = fake_fails("torch_list_size");
    *ret_size = list->count;
    return list->unknown ? 1 : 0;
}

AOTITorchError torch_list_get_item(StableListHandle list, size_t index, StableIValue *ret_element) {
    const bool fails = fake_fails("torch_list_get_item");
    if (index >= list->count) {
        fake_stop("an element behind the end of a list was asked for");
    }
    if (fails && list->of_tensors) { /* who does not get it cannot delete it */
        delete_element(list, index);
    }
    *ret_element = list->elements[index];
    return fails ? 1 : 0;
}

AOTITorchError torch_delete_list(StableListHandle list) {
    for (size_t i = 0; list->unknown && list->of_tensors && i < list->count; i++) {
        delete_element(list, i);
    }
    fake_release(FAKE_LIST, list);
    return fake_fails("torch_delete_list") ? 1 : 0;
}

AOTITorchError torch_new_string_handle(const char *data, size_t length, StringHandle *ret) {
    STEP("torch_new_string_handle")
    *ret = fake_new_string(data, length);
    return 0;
}

AOTITorchError torch_string_length(StringHandle handle, size_t *ret_length) {
    STEP("torch_string_length")
    *ret_length = handle->length;
    return 0;
}

AOTITorchError torch_string_c_str(StringHandle handle, const char **ret_data) {
    STEP("torch_string_c_str")
    *ret_data = handle->data;
    return 0;
}

AOTITorchError torch_delete_string(StringHandle handle) {
    fake_release(FAKE_STRING, handle);
    return fake_fails("torch_delete_string") ? 1 : 0;
}
