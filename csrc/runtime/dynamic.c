#include "dynamic.h"

#include <string.h>

#include "fill.h"

bool dynamic_make(error *e, tensor *t, const char *name, const dynamic_size *size, device where) {
    const shape none = {.dim = 0};
    return tensor_empty(e, t, name, &none, DTYPE_INT64, where) && tensor_fill_integer(e, t, size->bound);
}

bool dynamic_may_read(error *e, const cuda_scope *scope, const char *name, const dynamic_size *size) {
    bool capturing = false;
    if (!size->given && !cuda_is_capturing(e, scope, &capturing)) {
        return false;
    }
    CHECK(e, !capturing, "%s is known only after the kernel ran, and the capture of a CUDA graph cannot wait for it",
          name);
    return true;
}

bool dynamic_read(error *e, const cuda_scope *scope, int count, dynamic_size *const *sizes, const void *const *found) {
    bool wait = false;
    for (int i = 0; i < count; i++) {
        dynamic_size *const size = sizes[i];
        size->count = size->bound;
        if (size->given) {
            continue;
        }
        if (scope == NULL) {
            memcpy(&size->count, found[i], sizeof size->count);
            continue;
        }
        if (!cuda_copy_to_host(e, scope, &size->count, found[i], sizeof size->count)) {
            return false;
        }
        wait = true;
    }
    return !wait || cuda_synchronize(e, scope);
}

bool dynamic_cut(error *e, tensor *t, const char *name, int64_t count) {
    if (t->handle == NULL || t->sizes[0] == count) {
        return true;
    }
    int64_t sizes[MAX_DIMS];
    memcpy(sizes, t->sizes, (size_t)t->dim * sizeof *sizes);
    sizes[0] = count;
    tensor cut = {.handle = NULL};
    CHECK_ABI(e, aoti_torch__reinterpret_tensor, t->handle, t->dim, sizes, t->strides, 0, &cut.handle);
    tensor_release(e, t);
    *t = cut;
    return tensor_read(e, t, name);
}
