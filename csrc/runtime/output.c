#include "output.h"

#include "layout.h"
#include "overlap.h"

static void take_input(error *e, tensor *t, const tensor *input) {
    t->lent = input->lent;
    if (input->lent == NULL && aoti_torch_new_tensor_handle(input->handle, &t->handle) != 0) {
        t->handle = NULL;
        fail_abi(e, "aoti_torch_new_tensor_handle");
    }
}

void output_take(given_output *o, StableIValue value, const char *name) {
    tensor_take(&o->tensor, value);
    o->name = name;
}

void output_take_input(error *e, given_output *o, const tensor *input, const char *name) {
    take_input(e, &o->tensor, input);
    o->input = input;
    o->name = name;
}

void output_take_list(error *e, given_list *o, StableIValue value, const char *name) {
    list_take(e, value, &o->list, 0, 0);
    o->name = name;
}

void output_take_list_input(error *e, given_list *o, const tensor_list *input, const char *name) {
    if (!list_hold(&o->list, input->count, 0, 0)) {
        fail(e, "out of memory for a list of %" PRId64 " tensors", input->count);
        return;
    }
    for (int64_t i = 0; i < input->count && !e->set; i++) {
        take_input(e, &o->list.at[i], &input->at[i]);
    }
    o->input = input->at;
    o->name = name;
}

static bool check(error *e, tensor *t, const char *name, int64_t i, const shape *s, dtype d, device where) {
    if (!tensor_read_element(e, t, name, i)) {
        return false;
    }
    const tensor made = {.device = where};
    CHECK(e, t->dtype == d, "%s: expected dtype %s, got %s", tensor_text(e, name, i), dtype_name(d),
          dtype_name(t->dtype));
    CHECK(e, same_device(t, &made), "%s: expected device %s, got %s", tensor_text(e, name, i), device_text(e, &made),
          device_text(e, t));
    CHECK(e, same_sizes(t->sizes, t->dim, s->sizes, s->dim), "%s: expected shape %s, got %s", tensor_text(e, name, i),
          sizes_text(e, s->sizes, s->dim), shape_text(e, t));
    return true;
}

bool output_check(error *e, given_output *o, const shape *s, dtype d, device where) {
    return check(e, &o->tensor, o->name, NO_ELEMENT, s, d, where);
}

bool output_check_at(error *e, given_list *o, int64_t i, const shape *s, dtype d, device where) {
    return check(e, &o->list.at[i], o->name, i, s, d, where);
}

bool output_check_count(error *e, const given_list *o, const char *source, int64_t count) {
    CHECK(e, !list_given(&o->list) || o->list.count == count, "%s: expected %" PRId64 " tensors (as %s), got %" PRId64,
          o->name, count, source, o->list.count);
    return true;
}

static const char *text_of(error *e, const named_tensors *n, int64_t i) {
    return tensor_text(e, n->name, n->listed ? i : NO_ELEMENT);
}

static bool keep_apart(error *e, const named_tensors *one, const named_tensors *other) {
    int64_t i = -1, j = -1;
    if (one->listed || other->listed) {
        if (!find_list_overlap(e, one->at, one->count, other->at, other->count, &i, &j)) {
            return false;
        }
    } else if (one->at != other->at) {
        bool found;
        if (!tensors_overlap(e, one->at, other->at, &found)) {
            return false;
        }
        i = found ? 0 : -1;
    }
    CHECK(e, i < 0, "%s: expected no overlap with %s", text_of(e, one, i), text_of(e, other, j));
    return true;
}

bool outputs_keep_apart(error *e, const named_tensors *all, int inputs, int count) {
    for (const named_tensors *one = all + inputs; one < all + count; one++) {
        for (int64_t i = 0; i < one->count; i++) {
            CHECK(e, !tensor_overlaps_itself(&one->at[i]),
                  "%s: expected no overlap among its own elements, got strides %s", text_of(e, one, i),
                  strides_text(e, &one->at[i]));
        }
        if (!keep_apart(e, one, one)) { /* the tensors of a list */
            return false;
        }
        for (const named_tensors *other = all; other < one; other++) {
            if (other->at != one->input && !keep_apart(e, one, other)) {
                return false;
            }
        }
    }
    return true;
}

bool output_is_contiguous(const given_output *o) { return tensor_is_contiguous(&o->tensor); }

static bool place(tensor *t, tensor *given) {
    if (!tensor_is_contiguous(given)) {
        return false;
    }
    *t = *given;
    *given = (tensor){.handle = NULL};
    return true;
}

bool output_place(tensor *t, given_output *o) { return place(t, &o->tensor); }

bool output_return(error *e, const tensor *t, const given_output *o) {
    return !given(&o->tensor) || tensor_copy_elements(e, &o->tensor, t);
}

bool output_place_at(tensor_list *l, given_list *o, int64_t i) { return place(&l->at[i], &o->list.at[i]); }

void output_set_aside_at(tensor_list *l, given_list *o, int64_t i) {
    l->aside[i] = o->list.at[i];
    o->list.at[i] = (tensor){.handle = NULL};
}
