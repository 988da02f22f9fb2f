#include "argument.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- strings */

static bool read_text(error *e, StringHandle handle, string *t) {
    const char *data;
    CHECK_ABI(e, torch_string_length, handle, &t->length);
    CHECK_ABI(e, torch_string_c_str, handle, &data);
    const size_t kept = t->length < TEXT_ROOM ? t->length : TEXT_ROOM - 1;
    memcpy(t->data, data, kept);
    t->data[kept] = '\0';
    return true;
}

bool take_text(error *e, StableIValue value, string *t) {
    const StringHandle handle = (StringHandle)(uintptr_t)value;
    const bool ok = read_text(e, handle, t);
    CHECK_ABI(e, torch_delete_string, handle);
    return ok;
}

bool text_fits(const string *t) { return strlen(t->data) == t->length; }

int32_t text_choice(const string *t, const char *const *words, int32_t count) {
    for (int32_t i = 0; i < count; i++) {
        if (text_fits(t) && strcmp(t->data, words[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/* At most TEXT_SHOWN characters of UTF-8, which are never cut in two. */
static const char *quoted(error *e, const char *data, size_t length) {
    enum { TEXT_SHOWN = 60 };
    char *const text = error_value(e);
    size_t used = 0, i = 0;
    text[used++] = '"';
    for (int shown = 0; i < length && shown < TEXT_SHOWN; shown++) {
        do {
            const unsigned char byte = (unsigned char)data[i++];
            text[used++] = byte < 0x20 || byte == 0x7f ? '?' : (char)byte;
        } while (i < length && ((unsigned char)data[i] & 0xc0) == 0x80);
    }
    snprintf(text + used, ERROR_VALUE - used, i < length ? "...\"" : "\"");
    return text;
}

const char *text_quoted(error *e, const string *t) {
    return quoted(e, t->data, t->length < TEXT_ROOM ? t->length : TEXT_ROOM - 1);
}

const char *word_quoted(error *e, const char *word) { return quoted(e, word, strlen(word)); }

/* ---- lists */

typedef void put(void *data, size_t i, StableIValue element);

static void put_int(void *data, size_t i, StableIValue element) { ((int64_t *)data)[i] = take_int(element); }
static void put_float(void *data, size_t i, StableIValue element) { ((double *)data)[i] = take_float(element); }
static void put_bool(void *data, size_t i, StableIValue element) { ((bool *)data)[i] = take_bool(element); }

static bool read_list(error *e, StableListHandle handle, put *put_element, size_t size, number_list *l) {
    size_t count;
    CHECK_ABI(e, torch_list_size, handle, &count);
    l->data = calloc(count > 0 ? count : 1, size);
    CHECK(e, l->data != NULL, "out of memory for a list of %zu values", count);
    for (size_t i = 0; i < count; i++) {
        StableIValue element;
        CHECK_ABI(e, torch_list_get_item, handle, i, &element);
        put_element(l->data, i, element);
    }
    l->count = (int64_t)count;
    return true;
}

static bool take_list(error *e, StableIValue value, put *put_element, size_t size, number_list *l) {
    const StableListHandle handle = (StableListHandle)(uintptr_t)value;
    const bool ok = read_list(e, handle, put_element, size, l);
    CHECK_ABI(e, torch_delete_list, handle);
    return ok;
}

bool take_ints(error *e, StableIValue value, number_list *l) {
    return take_list(e, value, put_int, sizeof(int64_t), l);
}
bool take_floats(error *e, StableIValue value, number_list *l) {
    return take_list(e, value, put_float, sizeof(double), l);
}
bool take_bools(error *e, StableIValue value, number_list *l) { return take_list(e, value, put_bool, sizeof(bool), l); }

void list_release(number_list *l) {
    free(l->data);
    *l = (number_list){0};
}

void list_copy(const number_list *l, void *values, size_t size) {
    if (l->count > 0) {
        memcpy(values, l->data, (size_t)l->count * size);
    }
}

/* ---- devices */

device device_cpu(void) { return (device){.type = aoti_torch_device_type_cpu(), .index = -1}; }

bool device_is_cpu(const device *d) { return d->type == aoti_torch_device_type_cpu(); }

bool device_is_cuda(const device *d) { return d->type == aoti_torch_device_type_cuda(); }

bool device_complete(error *e, device *d) {
    if (device_is_cuda(d) && d->index < 0) {
        CHECK_ABI(e, aoti_torch_get_current_device_index, &d->index);
    }
    return true;
}

bool device_means(const device *d, const device *of) {
    return d->type == of->type && (d->index < 0 || of->index < 0 || d->index == of->index);
}

const char *device_quoted(error *e, const device *d) {
    char *const text = error_value(e);
    const char *const type = device_is_cpu(d)                           ? "cpu"
                             : device_is_cuda(d)                        ? "cuda"
                             : d->type == aoti_torch_device_type_meta() ? "meta"
                                                                        : "another device";
    if (d->index < 0) {
        return type;
    }
    snprintf(text, ERROR_VALUE, "%s:%" PRId32, type, d->index);
    return text;
}
