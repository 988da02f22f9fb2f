#include "made_list.h"

bool list_make(error *e, tensor_list *l, const char *name, int64_t count, int64_t rows, int64_t tables) {
    CHECK(e, list_hold(l, count, rows, tables), "%s: out of memory for a list of %" PRId64 " tensors", name, count);
    return true;
}

bool zero_list(error *e, const tensor_list *l) {
    for (int64_t i = 0; i < l->count; i++) {
        if (!tensor_zero(e, &l->at[i])) {
            return false;
        }
    }
    return true;
}

static bool pack(error *e, tensor_list *l) {
    CHECK_ABI(e, torch_new_list_reserve_size, (size_t)l->count, &l->packed);
    for (int64_t i = 0; i < l->count; i++) {
        if (given(&l->at[i])) {
            CHECK_ABI(e, torch_list_push_back, l->packed, (StableIValue)(uintptr_t)l->at[i].handle);
        }
    }
    return true;
}

void list_pack(error *e, tensor_list *l) {
    tensor_release(e, &l->table); /* it could fail, and nothing can any more once results are handed over */
    if (e->set || pack(e, l)) {
        return;
    }
    if (l->packed != NULL && torch_delete_list(l->packed) != 0) { /* the tensors in it still belong to `l` */
        fail_abi(e, "torch_delete_list");
    }
    l->packed = NULL;
}

void list_give(error *e, tensor_list *l, StableIValue *slot) {
    if (e->set && l->packed != NULL && torch_delete_list(l->packed) != 0) {
        fail_abi(e, "torch_delete_list");
    }
    for (int64_t i = 0; i < l->count && !e->set; i++) {
        l->at[i].handle = NULL; /* PyTorch's, with the list */
    }
    if (!e->set) {
        *slot = (StableIValue)(uintptr_t)l->packed;
    }
    list_release_tensors(e, l);
}

bool take_long_mask(error *e, StableIValue value, const char *name, number_list *mask, int64_t count) {
    if (!take_bools(e, value, mask)) {
        return false;
    }
    CHECK(e, mask->count == 0 || mask->count == count, "%s: expected %" PRId64 " bools, got %" PRId64, name, count,
          mask->count);
    return true;
}
