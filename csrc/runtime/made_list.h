/* Outputs that are lists of tensors, and the grad_mask of an operator that has one. */
#ifndef RUNTIME_MADE_LIST_H
#define RUNTIME_MADE_LIST_H

#include "argument.h"
#include "list.h"

/* Makes room for an output of `count` tensors, which are absent until they are made; list_release_tensors frees it.
 * `rows` and `tables` are those of list_hold. */
bool list_make(error *e, tensor_list *l, const char *name, int64_t count, int64_t rows, int64_t tables);

/* Sets every element of each tensor that was made to zero. */
bool zero_list(error *e, const tensor_list *l);

/* Puts the tensors that were made into a list of PyTorch, in order. All lists of a call are packed before its first
 * result is handed over, since packing can fail and nothing takes back what PyTorch has. */
void list_pack(error *e, tensor_list *l);

/* Hands the packed list to PyTorch, or deletes all of it when the call has failed. */
void list_give(error *e, tensor_list *l, StableIValue *slot);

/* Takes a grad_mask that has a place for each of `count` tensors; an empty one wants all of them. */
bool take_long_mask(error *e, StableIValue value, const char *name, number_list *mask, int64_t count);

/* Whether the tensor at a place of the mask is wanted, and whether any of `count` from there on is. */
static inline bool mask_wants(const number_list *mask, int64_t place) {
    return mask->count == 0 || ((const bool *)mask->data)[place];
}

static inline bool mask_any(const number_list *mask, int64_t place, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        if (mask_wants(mask, place + i)) {
            return true;
        }
    }
    return false;
}

#endif
