#include "boxed.h"

static bool read_bools(error *e, StableListHandle list, const char *name, bool *bools, size_t count) {
    size_t size;
    CHECK_ABI(e, torch_list_size, list, &size);
    CHECK(e, size == count, "%s: expected %zu bools, got %zu", name, count, size);
    for (size_t i = 0; i < count; i++) {
        StableIValue element;
        CHECK_ABI(e, torch_list_get_item, list, i, &element);
        bools[i] = take_bool(element);
    }
    return true;
}

bool take_mask(error *e, StableIValue value, const char *name, bool *bools, size_t count) {
    const StableListHandle list = (StableListHandle)(uintptr_t)value;
    const bool ok = read_bools(e, list, name, bools, count);
    CHECK_ABI(e, torch_delete_list, list);
    return ok;
}
