#include "written.h"

#include "layout.h"

bool written_set_aside(error *e, tensor *t, tensor *aside, bool lies_right, bool copied) {
    if (lies_right || !given(t)) {
        return true;
    }
    *aside = *t;
    *t = (tensor){.handle = NULL};
    shape s = {.dim = 0};
    if (!shape_add(e, &s, aside->sizes, aside->dim) ||
        !tensor_empty(e, t, "contiguous copy", &s, aside->dtype, aside->device)) {
        return false;
    }
    return !copied || tensor_copy_elements(e, t, aside);
}

bool written_return(error *e, const tensor *t, const tensor *aside) {
    return !given(aside) || tensor_copy_elements(e, aside, t);
}

bool tensor_clear(error *e, const tensor *t) {
    if (tensor_is_contiguous(t)) {
        return tensor_zero(e, t);
    }
    shape s = {.dim = 0};
    tensor zeros = {.handle = NULL};
    const bool ok = shape_add(e, &s, t->sizes, t->dim) && tensor_empty(e, &zeros, "zeros", &s, t->dtype, t->device) &&
                    tensor_zero(e, &zeros) && tensor_copy_elements(e, t, &zeros);
    tensor_release(e, &zeros);
    return ok && !e->set;
}
