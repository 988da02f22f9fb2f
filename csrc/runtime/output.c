#include "output.h"

#include "layout.h"
#include "overlap.h"

void output_take(given_output *o, StableIValue value, const char *name) {
    tensor_take(&o->tensor, value);
    o->name = name;
}

void output_take_input(error *e, given_output *o, const tensor *input, const char *name) {
    if (aoti_torch_new_tensor_handle(input->handle, &o->tensor.handle) != 0) {
        o->tensor.handle = NULL;
        fail_abi(e, "aoti_torch_new_tensor_handle");
    }
    o->input = input;
    o->name = name;
}

bool output_check(error *e, given_output *o, const shape *s, dtype d, device where) {
    tensor *const t = &o->tensor;
    if (!tensor_read(e, t, o->name)) {
        return false;
    }
    const tensor made = {.device = where};
    CHECK(e, t->dtype == d, "%s: expected dtype %s, got %s", o->name, dtype_name(d), dtype_name(t->dtype));
    CHECK(e, same_device(t, &made), "%s: expected device %s, got %s", o->name, device_text(e, &made),
          device_text(e, t));
    CHECK(e, same_sizes(t->sizes, t->dim, s->sizes, s->dim), "%s: expected shape %s, got %s", o->name,
          sizes_text(e, s->sizes, s->dim), shape_text(e, t));
    return true;
}

bool outputs_keep_apart(error *e, const given_output *o, const tensor *const *others, const char *const *names,
                        int count) {
    CHECK(e, !tensor_overlaps_itself(&o->tensor), "%s: expected no overlap among its own elements, got strides %s",
          o->name, strides_text(e, &o->tensor));
    for (int i = 0; i < count; i++) {
        bool found = false;
        if (others[i] != o->input && given(others[i]) && !tensors_overlap(e, &o->tensor, others[i], &found)) {
            return false;
        }
        CHECK(e, !found, "%s: expected no overlap with %s", o->name, names[i]);
    }
    return true;
}

bool output_keeps_apart_from(error *e, const given_output *o, const tensor_list *l, const char *name) {
    int64_t i, j;
    if (!find_list_overlap(e, &o->tensor, 1, l->at, l->count, &i, &j)) {
        return false;
    }
    CHECK(e, i < 0, "%s: expected no overlap with %s[%" PRId64 "]", o->name, name, j);
    return true;
}

bool output_is_contiguous(const given_output *o) { return tensor_is_contiguous(&o->tensor); }

bool output_place(tensor *t, given_output *o) {
    if (!output_is_contiguous(o)) {
        return false;
    }
    *t = o->tensor;
    o->tensor = (tensor){.handle = NULL};
    return true;
}

bool output_return(error *e, const tensor *t, const given_output *o) {
    return !given(&o->tensor) || tensor_copy_elements(e, &o->tensor, t);
}
